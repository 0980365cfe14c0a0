import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { agentsQuery, isResetKeyValid, keys, type Me, meQuery } from '@/api'
import { historySearchOf } from '@/features/agents'
import { searchOf } from '@/features/suggestions'
import { readStored } from '@/lib/storage'
import { ChatScreen } from './ChatScreen'
import { ErrorPage, NotFound } from './ErrorPages'
import { HomeScreen } from './HomeScreen'
import { Shell } from './Shell'
import { pathAfterSignIn } from './session'
import { lastWorkspace, type Section, sections } from './storageKeys'

interface Context {
  client: QueryClient
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotFound })

/**
 * Return who is signed in. Whoever is known is not waited for: an old answer is read anew beside it, so that a server that
 * cannot be reached stops nobody, and only the answer that nobody is signed in leads away.
 */
async function readMe(client: QueryClient, isPreload: boolean): Promise<Me | null> {
  const known = client.getQueryData<Me | null>(keys.me)
  if (!known) return client.fetchQuery(meQuery)
  return isPreload ? known : client.ensureQueryData({ ...meQuery, revalidateIfStale: true })
}

interface Entering {
  context: Context
  location: { href: string }
  preload: boolean
}

/** Only ways inside the app: an address from outside must not lead out of it. */
const inside = (next: unknown) => (typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined)
const nextOf = (search: Record<string, unknown>): { next?: string } => {
  const next = inside(search['next'])
  return next ? { next } : {}
}

async function signedIn({ context, location, preload }: Entering): Promise<{ me: Me }> {
  const me = await readMe(context.client, preload)
  if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
  return { me }
}

async function signedOut({ context, search, preload }: Entering & { search: { next?: string } }): Promise<void> {
  if (await readMe(context.client, preload)) throw redirect({ href: pathAfterSignIn(search.next) })
}

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async input => {
    const me = await readMe(input.context.client, input.preload)
    if (!me) return
    const last = readStored(lastWorkspace, '')
    const workspace = me.workspaces.find(each => each.handle === last) ?? me.workspaces[0]
    if (!workspace) throw redirect({ to: '/welcome' })
    throw redirect({ to: '/w/$workspace', params: { workspace: workspace.handle }, replace: true })
  },
  component: lazyRouteComponent(() => import('./LandingScreen'), 'LandingScreen'),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: nextOf,
  beforeLoad: signedOut,
  component: lazyRouteComponent(() => import('./AccountScreen'), 'SignInScreen'),
})

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: nextOf,
  beforeLoad: signedOut,
  component: lazyRouteComponent(() => import('./AccountScreen'), 'SignUpScreen'),
})

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./AccountScreen'), 'ForgotPasswordScreen'),
})

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password/$key',
  loader: async ({ params }) => ({ isValid: await isResetKeyValid(params.key) }),
  component: lazyRouteComponent(() => import('./AccountScreen'), 'NewPasswordScreen'),
})

const confirmEmail = createRoute({
  getParentRoute: () => root,
  path: '/confirm-email/$key',
  component: lazyRouteComponent(() => import('./AccountScreen'), 'ConfirmEmailScreen'),
})

/** Whoever was interrupted while making a workspace goes on with that one, instead of making a second. */
async function unfinished(client: QueryClient, me: Me) {
  const own = me.workspaces.filter(each => each.role === 'editor')
  const agents = await Promise.all(own.map(each => client.fetchQuery(agentsQuery(each.id))))
  return own.find((_, at) => agents[at]?.length === 0)
}

interface WelcomeSearch {
  workspace?: string
  step?: 'name' | 'model' | 'agent'
  /** Another workspace is wanted, whatever is unfinished. */
  another?: true
}

const stepOf = (step: unknown): WelcomeSearch =>
  step === 'name' || step === 'model' || step === 'agent' ? { step } : {}

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  validateSearch: (search: Record<string, unknown>): WelcomeSearch => ({
    ...(typeof search['workspace'] === 'string' ? { workspace: search['workspace'] } : {}),
    ...stepOf(search['step']),
    ...(search['another'] === true ? { another: true } : {}),
  }),
  beforeLoad: async input => {
    const { me } = await signedIn(input)
    if (input.search.workspace || input.search.another) return
    const left = await unfinished(input.context.client, me)
    if (left) throw redirect({ to: '/welcome', search: { workspace: left.handle, step: 'model' }, replace: true })
  },
  component: lazyRouteComponent(() => import('./WelcomeScreen'), 'WelcomeScreen'),
})

const join = createRoute({
  getParentRoute: () => root,
  path: '/join/$token',
  component: lazyRouteComponent(() => import('./JoinScreen'), 'JoinScreen'),
})

const workspace = createRoute({
  getParentRoute: () => root,
  path: '/w/$workspace',
  beforeLoad: signedIn,
  component: Shell,
  notFoundComponent: NotFound,
})

const home = createRoute({ getParentRoute: () => workspace, path: '/', component: HomeScreen })

const chat = createRoute({
  getParentRoute: () => workspace,
  path: '/c/$chat',
  validateSearch: (search: Record<string, unknown>): { shop?: string } =>
    typeof search['shop'] === 'string' ? { shop: search['shop'] } : {},
  component: ChatScreen,
})

const agents = createRoute({
  getParentRoute: () => workspace,
  path: '/agents',
  component: lazyRouteComponent(() => import('./AgentScreen'), 'AgentsScreen'),
})

const agent = createRoute({
  getParentRoute: () => workspace,
  path: '/agents/$agent',
  component: lazyRouteComponent(() => import('./AgentScreen'), 'AgentScreen'),
})

const suggestions = createRoute({
  getParentRoute: () => workspace,
  path: '/suggestions',
  validateSearch: searchOf,
  component: lazyRouteComponent(() => import('./SuggestionsScreen'), 'SuggestionsScreen'),
})

const versions = createRoute({
  getParentRoute: () => workspace,
  path: '/agents/$agent/history',
  validateSearch: historySearchOf,
  component: lazyRouteComponent(() => import('./HistoryScreen'), 'HistoryScreen'),
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): { section?: Section } => {
    const section = sections.find(each => each === search['section'])
    return section ? { section } : {}
  },
  component: lazyRouteComponent(() => import('./SettingsScreen'), 'SettingsScreen'),
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
  workspace.addChildren([home, chat, agents, agent, versions, suggestions, settings]),
])

export const makeRouter = (client: QueryClient) =>
  createRouter({ routeTree: tree, context: { client }, defaultPreload: 'intent', defaultErrorComponent: ErrorPage })
