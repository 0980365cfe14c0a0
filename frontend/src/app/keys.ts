/** The keys that work everywhere in a workspace. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useChats, type WorkspaceRow } from '@/api'
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

/** Where G and then a letter leads. */
const places = { c: '/w/$workspace', s: '/w/$workspace/suggestions' } as const

/** How long after G its letter counts. */
const SECOND_MS = 1_500

const isLetter = (event: KeyboardEvent) =>
  event.key.length === 1 &&
  !(event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) &&
  kept(LETTERS, true) &&
  !document.querySelector('[role=dialog], [role=menu]')

/** G, then where to. */
function useGoKeys(workspace: WorkspaceRow): void {
  const navigate = useNavigate()
  useEffect(() => {
    let since = 0
    const onKey = (event: KeyboardEvent) => {
      if (!isLetter(event)) return
      const to = Date.now() - since < SECOND_MS ? places[event.key.toLowerCase() as keyof typeof places] : undefined
      since = event.key.toLowerCase() === 'g' ? Date.now() : 0
      if (!to) return
      event.preventDefault()
      void navigate({ to, params: { workspace: workspace.handle }, search: {} })
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
