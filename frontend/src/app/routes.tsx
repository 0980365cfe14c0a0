import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { agentsQuery, isResetKeyValid, keys, type Me, meQuery } from '@/api'
import { parseVersionsSearch } from '@/features/agents'
import { parseDirectorySearch } from '@/features/directory'
import { parseMessageSearch } from '@/features/search'
import { parseSuggestionSearch } from '@/features/suggestions'
import { type SignInFailure, signInFailures } from '@/features/tools'
import { loadLazyTexts } from '@/lib/language'
import { readStored } from '@/lib/storage'
import { ChatScreen } from './ChatScreen'
import { ErrorPage, NotFound } from './ErrorPages'
import { HomeScreen } from './HomeScreen'
import { Root } from './Root'
import { Shell } from './Shell'
import { pathAfterSignIn, toInternalPath } from './session'
import { LAST_WORKSPACE_KEY, type Section, sections } from './storageKeys'

interface Context {
  client: QueryClient
}

const root = createRootRouteWithContext<Context>()({ component: Root, notFoundComponent: NotFound })

/**
 * Return the signed-in person, or null. A person who is already known is returned at once and read again in the background,
 * so that a page works while the server cannot be reached.
 */
async function readMe(client: QueryClient, isPreload: boolean): Promise<Me | null> {
  const known = client.getQueryData<Me | null>(keys.me)
  if (!known) return client.fetchQuery(meQuery)
  return isPreload ? known : client.ensureQueryData({ ...meQuery, revalidateIfStale: true })
}

/** The component of a route: a named export of a file that is loaded when the route is, with the texts of lazy parts. */
function lazyScreen<Screens extends object>(load: () => Promise<Screens>, name: keyof Screens & string) {
  const loadWithTexts = async () => {
    const [screens] = await Promise.all([load(), loadLazyTexts()])
    return screens
  }
  return lazyRouteComponent(loadWithTexts, name)
}

interface BeforeLoadInput {
  context: Context
  location: { href: string }
  preload: boolean
}

const parseNext = (search: Record<string, unknown>): { next?: string } => {
  const next = toInternalPath(search['next'])
  return next ? { next } : {}
}

async function requireSignedIn({ context, location, preload }: BeforeLoadInput): Promise<{ me: Me }> {
  const me = await readMe(context.client, preload)
  if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
  return { me }
}

async function requireSignedOut({
  context,
  search,
  preload,
}: BeforeLoadInput & { search: { next?: string } }): Promise<void> {
  if (await readMe(context.client, preload)) throw redirect({ href: pathAfterSignIn(search.next) })
}

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async input => {
    if (!(await readMe(input.context.client, input.preload))) return
    const workspace = await findLastWorkspace(input)
    throw redirect({ to: '/w/$workspace', params: { workspace }, replace: true })
  },
  component: lazyScreen(() => import('./LandingScreen'), 'LandingScreen'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: parseNext,
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('./AccountScreen'), 'SignInScreen'),
})

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: parseNext,
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('./AccountScreen'), 'SignUpScreen'),
})

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyScreen(() => import('./AccountScreen'), 'ForgotPasswordScreen'),
})

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password/$key',
  loader: async ({ params }) => ({ isValid: await isResetKeyValid(params.key) }),
  component: lazyScreen(() => import('./AccountScreen'), 'NewPasswordScreen'),
})

const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email/$key',
  component: lazyScreen(() => import('./AccountScreen'), 'ConfirmEmailScreen'),
})

/** Finds a workspace of this person that has no agent yet: its interrupted setup is continued, and no second workspace created. */
async function findUnfinishedWorkspace(client: QueryClient, me: Me) {
  const own = me.workspaces.filter(row => row.role === 'editor')
  const agents = await Promise.all(own.map(row => client.fetchQuery(agentsQuery(row.id))))
  return own.find((_, at) => agents[at]?.length === 0)
}

interface WelcomeSearch {
  workspace?: string
  step?: 'name' | 'model' | 'agent'
  /** Create another workspace, even if one is unfinished. */
  another?: true
}

const parseStep = (step: unknown): WelcomeSearch =>
  step === 'name' || step === 'model' || step === 'agent' ? { step } : {}

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  validateSearch: (search: Record<string, unknown>): WelcomeSearch => ({
    ...(typeof search['workspace'] === 'string' ? { workspace: search['workspace'] } : {}),
    ...parseStep(search['step']),
    ...(search['another'] === true ? { another: true } : {}),
  }),
  beforeLoad: async input => {
    const { me } = await requireSignedIn(input)
    if (input.search.workspace || input.search.another) return
    const unfinished = await findUnfinishedWorkspace(input.context.client, me)
    if (unfinished)
      throw redirect({ to: '/welcome', search: { workspace: unfinished.handle, step: 'model' }, replace: true })
  },
  component: lazyScreen(() => import('./WelcomeScreen'), 'WelcomeScreen'),
})

const join = createRoute({
  getParentRoute: () => root,
  path: '/join/$token',
  component: lazyScreen(() => import('./JoinScreen'), 'JoinScreen'),
})

/** Returns the handle of the workspace that this person used last; redirects to the first steps if they have none. */
async function findLastWorkspace(input: BeforeLoadInput): Promise<string> {
  const { me } = await requireSignedIn(input)
  const last = readStored(LAST_WORKSPACE_KEY, '')
  const workspace = me.workspaces.find(row => row.handle === last) ?? me.workspaces[0]
  if (!workspace) throw redirect({ to: '/welcome' })
  return workspace.handle
}

/** The directory at an address without a workspace, for links that people of any workspace can open. */
const sharedDirectory = createRoute({
  getParentRoute: () => root,
  path: '/directory',
  beforeLoad: async input => {
    const workspace = await findLastWorkspace(input)
    throw redirect({ to: '/w/$workspace/directory', params: { workspace }, replace: true })
  },
})

const sharedPublicAgent = createRoute({
  getParentRoute: () => root,
  path: '/directory/$agent',
  beforeLoad: async input => {
    const workspace = await findLastWorkspace(input)
    const { agent } = input.params
    throw redirect({ to: '/w/$workspace/directory/$agent', params: { workspace, agent }, replace: true })
  },
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/w/$workspace',
  beforeLoad: requireSignedIn,
  component: Shell,
  notFoundComponent: NotFound,
})

const home = createRoute({ getParentRoute: () => workspace, path: '/', component: HomeScreen })

const chat = createRoute({
  getParentRoute: () => workspace,
  path: '/c/$chat',
  validateSearch: (search: Record<string, unknown>): { workshop?: string; find?: string } => ({
    ...(typeof search['workshop'] === 'string' ? { workshop: search['workshop'] } : {}),
    // The words by which a message was found. Digits alone are a number here.
    ...(['string', 'number'].includes(typeof search['find']) ? { find: String(search['find']) } : {}),
  }),
  component: ChatScreen,
})

const agents = createRoute({
  getParentRoute: () => workspace,
  path: '/agents',
  component: lazyScreen(() => import('./AgentScreen'), 'AgentsScreen'),
})

const agent = createRoute({
  getParentRoute: () => workspace,
  path: '/agents/$agent',
  component: lazyScreen(() => import('./AgentScreen'), 'AgentScreen'),
})

const agentOverview = createRoute({
  getParentRoute: () => agent,
  path: '/',
  component: lazyRouteComponent(() => import('./AgentScreen'), 'AgentTabScreen'),
})

const agentTab = createRoute({
  getParentRoute: () => agent,
  path: '/$tab',
  validateSearch: (search: Record<string, unknown>): { run?: string } =>
    typeof search['run'] === 'string' ? { run: search['run'] } : {},
  component: lazyRouteComponent(() => import('./AgentScreen'), 'AgentTabScreen'),
})

const run = createRoute({
  getParentRoute: () => workspace,
  path: '/runs/$run',
  component: lazyScreen(() => import('./RunScreen'), 'RunScreen'),
})

const suggestions = createRoute({
  getParentRoute: () => workspace,
  path: '/suggestions',
  validateSearch: parseSuggestionSearch,
  component: lazyScreen(() => import('./SuggestionsScreen'), 'SuggestionsScreen'),
})

const versions = createRoute({
  getParentRoute: () => workspace,
  path: '/agents/$agent/history',
  validateSearch: parseVersionsSearch,
  component: lazyScreen(() => import('./VersionsScreen'), 'VersionsScreen'),
})

const search = createRoute({
  getParentRoute: () => workspace,
  path: '/search',
  validateSearch: parseMessageSearch,
  component: lazyScreen(() => import('./SearchScreen'), 'SearchScreen'),
})

const files = createRoute({
  getParentRoute: () => workspace,
  path: '/files',
  validateSearch: (search: Record<string, unknown>): { file?: string } =>
    typeof search['file'] === 'string' ? { file: search['file'] } : {},
  component: lazyScreen(() => import('./FilesScreen'), 'FilesScreen'),
})

const directory = createRoute({
  getParentRoute: () => workspace,
  path: '/directory',
  validateSearch: parseDirectorySearch,
  component: lazyScreen(() => import('./DirectoryScreen'), 'DirectoryScreen'),
})

const publicAgent = createRoute({
  getParentRoute: () => workspace,
  path: '/directory/$agent',
  component: lazyScreen(() => import('./DirectoryScreen'), 'PublicAgentScreen'),
})

const publish = createRoute({
  getParentRoute: () => workspace,
  path: '/agents/$agent/publish',
  component: lazyScreen(() => import('./PublishScreen'), 'PublishScreen'),
})

const usage = createRoute({
  getParentRoute: () => workspace,
  path: '/usage',
  component: lazyScreen(() => import('./UsageScreen'), 'UsageScreen'),
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): { section?: Section; sign_in_failure?: SignInFailure } => {
    const section = sections.find(section => section === search['section'])
    const failure = signInFailures.find(failure => failure === search['sign_in_failure'])
    return { ...(section ? { section } : {}), ...(failure ? { sign_in_failure: failure } : {}) }
  },
  component: lazyScreen(() => import('./SettingsScreen'), 'SettingsScreen'),
})

const tree = root.addChildren([
  start,
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  confirmEmail,
  welcome,
  join,
  sharedDirectory,
  sharedPublicAgent,
  workspace.addChildren([
    home,
    chat,
    agents,
    agent.addChildren([agentOverview, agentTab]),
    versions,
    run,
    suggestions,
    search,
    files,
    directory,
    publicAgent,
    publish,
    usage,
    settings,
  ]),
])

export const createAppRouter = (client: QueryClient) =>
  createRouter({ routeTree: tree, context: { client }, defaultPreload: 'intent', defaultErrorComponent: ErrorPage })
