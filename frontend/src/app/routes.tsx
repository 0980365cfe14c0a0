import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { agentsQuery, isGoodKey, type Me, meQuery } from '@/api'
import { historySearchOf } from '@/features/agents'
import { searchOf } from '@/features/suggestions'
import { kept } from '@/lib/stored'
import { ChatScreen } from './ChatScreen'
import { HomeScreen } from './HomeScreen'
import { Broken, Missing } from './Lost'
import { lastWorkspace, type Section, sections } from './places'
import { Shell } from './Shell'

interface Context {
  client: QueryClient
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: Missing })

const readMe = (client: QueryClient) => client.fetchQuery(meQuery)

/** Only ways inside the app: an address from outside must not lead out of it. */
const inside = (next: unknown) => (typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined)
const nextOf = (search: Record<string, unknown>): { next?: string } => {
  const next = inside(search['next'])
  return next ? { next } : {}
}

async function signedIn({ context, location }: { context: Context; location: { href: string } }): Promise<{ me: Me }> {
  const me = await readMe(context.client)
  if (!me) throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
  return { me }
}

async function signedOut({ context, search }: { context: Context; search: { next?: string } }): Promise<void> {
  if (await readMe(context.client)) throw redirect({ href: search.next ?? '/' })
}

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: async input => {
    const { me } = await signedIn(input)
    const last = kept(lastWorkspace, '')
    const workspace = me.workspaces.find(each => each.handle === last) ?? me.workspaces[0]
    if (!workspace) throw redirect({ to: '/welcome' })
    throw redirect({ to: '/w/$workspace', params: { workspace: workspace.handle }, replace: true })
  },
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
  loader: async ({ params }) => ({ isGood: await isGoodKey(params.key) }),
  component: lazyRouteComponent(() => import('./AccountScreen'), 'NewPasswordScreen'),
})

/** Whoever was interrupted while making a workspace goes on with that one, instead of making a second. */
async function unfinished(client: QueryClient, me: Me) {
  const own = me.workspaces.filter(each => each.role === 'editor')
  const agents = await Promise.all(own.map(each => client.fetchQuery(agentsQuery(each.id))))
  return own.find((_, at) => agents[at]?.length === 0)
}

interface WelcomeSearch {
  workspace?: string
  step?: 'model' | 'agent'
  /** Another workspace is wanted, whatever is unfinished. */
  another?: true
}

const welcome = createRoute({
  getParentRoute: () => root,
  path: '/welcome',
  validateSearch: (search: Record<string, unknown>): WelcomeSearch => ({
    ...(typeof search['workspace'] === 'string' ? { workspace: search['workspace'] } : {}),
    ...(search['step'] === 'model' || search['step'] === 'agent' ? { step: search['step'] } : {}),
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
  welcome,
  join,
  workspace.addChildren([home, chat, agents, agent, versions, suggestions, settings]),
])

export const makeRouter = (client: QueryClient) =>
  createRouter({ routeTree: tree, context: { client }, defaultPreload: 'intent', defaultErrorComponent: Broken })
