/** The actions that work everywhere in a workspace. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ChatSummaryRow, useAgents, useChats, type WorkspaceRow } from '@/api'
import { useActions } from '@/lib/actions'
import { chooseTheme, type Theme, useTheme } from '@/lib/theme'

interface ShellActions {
  workspace: WorkspaceRow
  chats: readonly ChatSummaryRow[] | undefined
  openPalette(): void
  openKeys(): void
  createChat(): void
  /** Null: this person may not. */
  createAgent: (() => void) | null
}

/** The next of `list` after `from` in a direction, around the ends. */
function nextOf<T>(list: readonly T[], from: T | undefined, step: 1 | -1): T | undefined {
  if (list.length === 0) return undefined
  const at = from === undefined ? -1 : list.indexOf(from)
  return list[(at + step + list.length) % list.length]
}

interface InView {
  /** The agent whose page is open. */
  agent: string | undefined
  /** The agent whose workshop is open. */
  shop: string | undefined
  members: readonly string[]
}

/** Whose versions are meant: of the agent on the screen, else of the first in the chat, else of the first there is. */
export function agentInView(agents: readonly string[], { agent, shop, members }: InView): string | undefined {
  return [agent, shop, ...members, ...agents].find(id => id !== undefined && agents.includes(id))
}

/** Opens the versions of the agent in view; the way back leads to the chat one came from. */
function useOpenVersions(workspace: WorkspaceRow): (() => void) | null {
  const navigate = useNavigate()
  const { agent, chat } = useParams({ strict: false })
  const { shop } = useSearch({ strict: false })
  const agents = useAgents(workspace.id).data
  const open = useChats(workspace.id).data?.find(each => each.chat.id === chat)
  const members = open?.members.map(actor => actor.id) ?? []
  const id = agentInView(agents?.map(each => each.actor.id) ?? [], { agent, shop, members })
  if (!id) return null
  return () => {
    const params = { workspace: workspace.handle, agent: id }
    void navigate({ to: '/w/$workspace/agents/$agent/history', params, search: chat ? { chat } : {} })
  }
}

/** F6 goes from pane to pane. */
function focusPane(step: 1 | -1): void {
  const panes = [
    ...document.querySelectorAll<HTMLElement>(
      '[data-pane=sidebar] a[aria-current], [data-pane=list] [aria-current], [data-pane=log], [data-pane=composer] textarea, [data-pane=workshop] [role=tab][aria-selected=true]',
    ),
  ].filter(pane => pane.offsetParent !== null)
  const region = (element: Element | null) => element?.closest('[data-pane]')
  const here = panes.find(pane => region(pane) === region(document.activeElement))
  nextOf(panes, here, step)?.focus()
}

export function useShellActions(shell: ShellActions): void {
  const { workspace, chats } = shell
  const navigate = useNavigate()
  const open = useParams({ strict: false }).chat
  const openVersions = useOpenVersions(workspace)
  const params = { workspace: workspace.handle }
  const goToChat = (step: 1 | -1, unreadOnly: boolean) => {
    const list = (chats ?? [])
      .filter(each => !unreadOnly || each.unread > 0 || each.chat.id === open)
      .map(each => each.chat.id)
    const chat = nextOf(list, open, step)
    if (chat) void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat } })
  }
  const theme = useTheme()
  const choose = (next: Theme) => (next === theme ? null : () => chooseTheme(next))
  useActions(() => ({
    'palette.open': shell.openPalette,
    'keys.open': shell.openKeys,
    'chat.create': shell.createChat,
    'agent.create': shell.createAgent,
    'pane.next': () => focusPane(1),
    'pane.previous': () => focusPane(-1),
    'chat.previous': () => goToChat(-1, false),
    'chat.next': () => goToChat(1, false),
    'chat.previousUnread': () => goToChat(-1, true),
    'chat.nextUnread': () => goToChat(1, true),
    'chats.open': () => void navigate({ to: '/w/$workspace', params, search: {} }),
    'suggestions.open': () => void navigate({ to: '/w/$workspace/suggestions', params, search: {} }),
    'versions.open': openVersions,
    'theme.light': choose('light'),
    'theme.dark': choose('dark'),
    'theme.system': choose('system'),
  }))
}
