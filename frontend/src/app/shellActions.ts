/** The actions that work everywhere in a workspace. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ListedChatRow, useAgents, useChats, type WorkspaceRow } from '@/api'
import { useActions } from '@/lib/actions'
import { chooseTheme, type Theme, useTheme } from '@/lib/theme'

interface ShellActions {
  workspace: WorkspaceRow
  chats: readonly ListedChatRow[] | undefined
  openPalette(): void
  openKeys(): void
  createChat(): void
  /** Null if this person may not create agents. */
  createAgent: (() => void) | null
}

/**
 * Returns the item after (or before) `from` in `list`, wrapping around at the ends. If `from` is not in the list, returns the first
 * (or last) item.
 */
export function getNext<T>(list: readonly T[], from: T | undefined, step: 1 | -1): T | undefined {
  const at = from === undefined ? -1 : list.indexOf(from)
  if (at === -1) return list.at(step === 1 ? 0 : -1)
  return list.at((at + step) % list.length)
}

interface InView {
  /** The agent whose page is open. */
  agent: string | undefined
  /** The agent whose workshop is open. */
  workshop: string | undefined
  participants: readonly string[]
}

/** Returns the id of the agent on the screen, else of the first agent in the chat, else of the first in the workspace. */
export function findAgentInView(
  agents: readonly string[],
  { agent, workshop, participants }: InView,
): string | undefined {
  return [agent, workshop, ...participants, ...agents].find(id => id !== undefined && agents.includes(id))
}

/** Returns a function that opens the versions of the agent in view, with the chat to return to; null without agents. */
function useOpenVersions(workspace: WorkspaceRow): (() => void) | null {
  const navigate = useNavigate()
  const { agent, chat } = useParams({ strict: false })
  const { workshop } = useSearch({ strict: false })
  const agents = useAgents(workspace.id).data
  const open = useChats(workspace.id).data?.find(row => row.chat.id === chat)
  const participants = open?.participants.map(actor => actor.id) ?? []
  const id = findAgentInView(agents?.map(row => row.actor.id) ?? [], { agent, workshop, participants })
  if (!id) return null
  return () => {
    const params = { workspace: workspace.handle, agent: id }
    void navigate({ to: '/w/$workspace/agents/$agent/history', params, search: chat ? { chat } : {} })
  }
}

/** Moves the focus to the next or previous pane (F6). */
function focusPane(step: 1 | -1): void {
  const panes = [
    ...document.querySelectorAll<HTMLElement>(
      `[data-pane=sidebar] a[aria-current], [data-pane=list] [aria-current],
      [data-pane=list]:not(:has([aria-current])) input, [data-pane=log],
      [data-pane=composer] textarea, [data-pane=workshop] [role=tab][aria-selected=true]`,
    ),
  ].filter(pane => pane.offsetParent !== null)
  const findRegion = (element: Element | null) => element?.closest('[data-pane]')
  const here = panes.find(pane => findRegion(pane) === findRegion(document.activeElement))
  getNext(panes, here, step)?.focus()
}

export function useShellActions(shell: ShellActions): void {
  const { workspace, chats } = shell
  const navigate = useNavigate()
  const open = useParams({ strict: false }).chat
  const openVersions = useOpenVersions(workspace)
  const params = { workspace: workspace.handle }
  const goToChat = (step: 1 | -1, unreadOnly: boolean) => {
    const list = (chats ?? [])
      .filter(row => !unreadOnly || row.unread > 0 || row.chat.id === open) // the step begins at the open chat
      .map(row => row.chat.id)
    const chat = getNext(list, open, step)
    if (chat) void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat } })
  }
  const theme = useTheme()
  const chooseOtherTheme = (next: Theme) => (next === theme ? null : () => chooseTheme(next))
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
    'directory.open': () => void navigate({ to: '/w/$workspace/directory', params, search: {} }),
    'search.open': () => void navigate({ to: '/w/$workspace/search', params, search: {} }),
    'search.inChat': open ? () => void navigate({ to: '/w/$workspace/search', params, search: { chat: open } }) : null,
    'versions.open': openVersions,
    'theme.light': chooseOtherTheme('light'),
    'theme.dark': chooseOtherTheme('dark'),
    'theme.system': chooseOtherTheme('system'),
  }))
}
