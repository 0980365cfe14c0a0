import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import {
  chatsQuery,
  type ListedChatRow,
  type Me,
  type NotificationRow,
  readUnreadNotifications,
  useMarkNotifications,
} from '@/api'
import { isMuted } from '@/features/chats'
import { t } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { connection, onFrame } from '@/realtime'
import { announceViewedChat, becomeNotifier, isChatInView } from '../tabLocks'
import { formatChatTitle, getKind, getPath } from '../wording'

/** Delay before new notifications are read, in ms. A message that the reader is looking at is read by then. */
const PAUSE_MS = 1_500
/** Number of unread notifications among which the new ones are looked for. */
const MAX_LISTED = 20

const shownTypes: readonly NotificationRow['type'][] = [
  'mention',
  'approval_asked',
  'board_waits',
  'board_paused',
  'board_ended',
]

interface BrowserNotifierProps {
  me: Me
  openChatId: string | undefined
  onGo(path: string): void
}

/** Shows new notifications by the browser. Of several tabs, one shows them. */
export function BrowserNotifier({ me, openChatId, onGo }: BrowserNotifierProps) {
  const client = useQueryClient()
  const mark = useMarkNotifications()
  useEffect(() => (openChatId ? announceViewedChat(openChatId) : undefined), [openChatId])
  const show = useLatest(async (row: NotificationRow): Promise<Notification | null> => {
    const handle = me.workspaces.find(({ id }) => id === row.workspace_id)?.handle
    const path = handle === undefined ? null : getPath(row, handle)
    const chat = await findChat(client, row)
    if (path === null || (chat && isMuted(chat)) || (row.chat_id && (await isChatInView(row.chat_id)))) return null
    return showNotification(row, formatChatTitle(chat?.chat), () => {
      mark.mutate(row.id)
      onGo(path)
    })
  })
  useEffect(() => notifyFromOneTab(me.actor.id, row => show.current(row)), [me.actor.id])
  return null
}

/** Waits for its turn among the tabs, and then shows the notifications that are new. Returns the function that ends it. */
function notifyFromOneTab(personId: string, show: (row: NotificationRow) => Promise<Notification | null>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Promise.resolve()
  let stopFollowing = () => {}
  const release = becomeNotifier(personId, () => {
    const read = createReader(show)
    const readNext = () => {
      // After an error, the next frame or the next connection reads them again.
      last = last.then(read).catch(() => undefined)
    }
    readNext()
    const readSoon = () => {
      clearTimeout(timer)
      timer = setTimeout(readNext, PAUSE_MS)
    }
    const unsubscribe = [
      onFrame(frame => frame.type === 'list_changed' && frame.list === 'notifications' && readSoon()),
      connection.subscribe(() => connection.get().state === 'open' && readSoon()),
    ]
    stopFollowing = () => {
      for (const end of unsubscribe) end()
    }
  })
  return () => {
    clearTimeout(timer)
    stopFollowing()
    release()
  }
}

/** Returns a function that reads the unread notifications, and shows those that came after its first call. */
function createReader(show: (row: NotificationRow) => Promise<Notification | null>): () => Promise<void> {
  /** When the newest one was created that is not to be shown; null before the first call. */
  let since: string | null = null
  const known = new Set<string>()
  const shown = new Map<string, Notification>()
  return async () => {
    const rows = (await readUnreadNotifications(MAX_LISTED)).results
    const added = rows.filter(row => !known.has(row.id) && since !== null && row.created_at >= since)
    since ??= rows[0]?.created_at ?? ''
    for (const row of rows) known.add(row.id)
    for (const row of added.reverse()) {
      const notification = shownTypes.includes(row.type) ? await show(row) : null
      if (notification) shown.set(row.id, notification)
    }
    if (rows.length < MAX_LISTED) closeOthers(shown, new Set(rows.map(row => row.id)))
  }
}

/** Closes the notifications that are not unread any more. */
function closeOthers(shown: Map<string, Notification>, unread: ReadonlySet<string>): void {
  for (const [id, notification] of shown) {
    if (unread.has(id)) continue
    notification.close()
    shown.delete(id)
  }
}

/** Returns the chat of a notification with what the reader has set for it. */
async function findChat(client: QueryClient, row: NotificationRow): Promise<ListedChatRow | undefined> {
  if (!row.chat_id) return undefined
  const chats = await client.fetchQuery(chatsQuery(row.workspace_id))
  return chats.find(({ chat }) => chat.id === row.chat_id)
}

/** Returns the notification; null if the browser does not show it: some show none without a service worker. */
function showNotification(row: NotificationRow, chat: string, onOpen: () => void): Notification | null {
  const kind = getKind(row, chat)
  if (!kind) return null
  try {
    const title = t(kind.key, { actor: row.actor_name, agent: row.agent_name, chat })
    const notification = new Notification(title, { body: row.excerpt, tag: row.id })
    notification.onclick = () => {
      window.focus()
      notification.close()
      onOpen()
    }
    return notification
  } catch {
    return null
  }
}
