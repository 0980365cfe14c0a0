/** The keys that work everywhere in a workspace. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useAgents, useChats, type WorkspaceRow } from '@/api'
import { hasModifier, isWriting, LETTERS } from '@/lib/keys'
import { kept } from '@/lib/stored'

interface ShellKeys {
  workspace: WorkspaceRow
  openPalette(): void
  openKeys(): void
}

/** The next of `list` after `from` in a direction, around the ends. */
export function nextOf<T>(list: readonly T[], from: T | undefined, step: 1 | -1): T | undefined {
  if (list.length === 0) return undefined
  const at = from === undefined ? -1 : list.indexOf(from)
  return list[(at + step + list.length) % list.length]
}

/** Where G and then a letter leads; H is of an agent, so it has no place of its own. */
const places = { c: '/w/$workspace', s: '/w/$workspace/suggestions' } as const

/** How long after G its letter counts. */
const SECOND_MS = 1_500

const isLetter = (event: KeyboardEvent) =>
  event.key.length === 1 &&
  !(event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) &&
  kept(LETTERS, true) &&
  !document.querySelector('[role=dialog], [role=menu]')

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
function useToVersions(workspace: WorkspaceRow): () => void {
  const navigate = useNavigate()
  const { agent, chat } = useParams({ strict: false })
  const { shop } = useSearch({ strict: false })
  const agents = useAgents(workspace.id).data
  const open = useChats(workspace.id).data?.find(each => each.chat.id === chat)
  const members = open?.members.map(actor => actor.id) ?? []
  const id = agentInView(agents?.map(each => each.actor.id) ?? [], { agent, shop, members })
  return () => {
    if (!id) return
    const params = { workspace: workspace.handle, agent: id }
    void navigate({ to: '/w/$workspace/agents/$agent/history', params, search: chat ? { chat } : {} })
  }
}

/** G, then where to. */
function useGoKeys(workspace: WorkspaceRow): void {
  const navigate = useNavigate()
  const go = useToVersions(workspace)
  const toVersions = useRef(go)
  toVersions.current = go
  useEffect(() => {
    let since = 0
    const onKey = (event: KeyboardEvent) => {
      if (!isLetter(event)) return
      const key = event.key.toLowerCase()
      const isSecond = Date.now() - since < SECOND_MS
      since = key === 'g' ? Date.now() : 0
      const to = places[key as keyof typeof places]
      if (!isSecond || !(to || key === 'h')) return
      event.preventDefault()
      if (to) void navigate({ to, params: { workspace: workspace.handle }, search: {} })
      else toVersions.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [navigate, workspace.handle])
}

/** F6 goes from pane to pane. */
function nextPane(back: boolean): void {
  const panes = [
    ...document.querySelectorAll<HTMLElement>(
      '.side a[aria-current], .split .t[aria-current], .log, .compose textarea, .shop [role=tab][aria-selected=true]',
    ),
  ].filter(pane => pane.offsetParent !== null)
  const region = (element: Element | null) => element?.closest('.side, .split, .log, .compose, .shop')
  const here = panes.find(pane => region(pane) === region(document.activeElement))
  nextOf(panes, here, back ? -1 : 1)?.focus()
}

export function useShellKeys({ workspace, openPalette, openKeys }: ShellKeys): void {
  useGoKeys(workspace)
  const navigate = useNavigate()
  const chats = useChats(workspace.id).data
  const open = useParams({ strict: false }).chat

  useEffect(() => {
    const toChat = (step: 1 | -1, unreadOnly: boolean) => {
      const list = (chats ?? [])
        .filter(each => !unreadOnly || each.unread > 0 || each.chat.id === open)
        .map(each => each.chat.id)
      const chat = nextOf(list, open, step)
      if (chat) void navigate({ to: '/w/$workspace/c/$chat', params: { workspace: workspace.handle, chat } })
    }
    const actions: readonly [(event: KeyboardEvent) => boolean, (event: KeyboardEvent) => void][] = [
      [event => event.key.toLowerCase() === 'k' && hasModifier(event), openPalette],
      [event => event.key === 'F6', event => nextPane(event.shiftKey)],
      [isAltArrow, event => toChat(event.key === 'ArrowDown' ? 1 : -1, event.shiftKey)],
      [event => event.key === '?' && !isWriting(event) && kept(LETTERS, true), openKeys],
    ]
    const onKey = (event: KeyboardEvent) => {
      const act = actions.find(([fits]) => fits(event))?.[1]
      if (!act) return
      event.preventDefault()
      act(event)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [chats, open, navigate, workspace.handle, openPalette, openKeys])
}

const isAltArrow = (event: KeyboardEvent) => event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')
