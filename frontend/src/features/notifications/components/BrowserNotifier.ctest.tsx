import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { Me, NotificationRow } from '@/api'
import { startRealtime, stopRealtime } from '@/realtime'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { BrowserNotifier } from './BrowserNotifier'

const me = { actor: { id: 'me' }, workspaces: [{ id: 'w', handle: 'tours' }] } as unknown as Me
const chat = (id: string, is_muted: boolean) => ({ chat: { id, title: id }, is_muted, muted_until: null })

const row = (id: string, type: NotificationRow['type'], chat_id = 'kyoto') => ({
  ...{ id, type, chat_id, workspace_id: 'w', message_id: 'm', actor_name: 'Ann', agent_name: 'Scribe' },
  ...{ excerpt: 'Book it?', is_read: false, created_at: '2026-11-20T10:00:00Z' },
})

/** The notifications that the browser shows, by title. */
const shown = new Map<string, { onclick(): void }>()

class ShownNotification {
  constructor(private readonly title: string) {
    shown.set(title, this as unknown as { onclick(): void })
  }
  close() {
    shown.delete(this.title)
  }
}

let receive = (_: { data: string }) => {}

class ServerSocket {
  set onmessage(next: typeof receive) {
    receive = next
  }
  close() {}
}

afterEach(() => {
  stopRealtime()
  shown.clear()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it('shows what is new and waits for the reader, until it is read', async () => {
  vi.stubGlobal('Notification', ShownNotification)
  vi.stubGlobal('WebSocket', ServerSocket)
  let unread = [row('old', 'mention')]
  const requests = answerRequests(({ path }) => {
    if (path === '/workspaces/w/chats') return [200, page([chat('kyoto', false), chat('quiet', true)])]
    return [200, path.startsWith('/notifications?') ? page(unread) : { unread: 0, waiting_chat_ids: [] }]
  })
  startRealtime()
  const onGo = vi.fn()
  await render(withQueries(<BrowserNotifier me={me} openChatId={undefined} onGo={onGo} />))
  await vi.waitFor(() => expect(requests).toHaveLength(1))

  const changeUnread = (rows: typeof unread) => {
    unread = rows
    receive({ data: JSON.stringify({ type: 'list_changed', topic: 'actor:me', list: 'notifications' }) })
  }
  const [approval, board] = ['Scribe waits for you in #kyoto', 'A board in #kyoto waits for you to start it']
  const others = [row('s', 'suggestion_created'), row('q', 'mention', 'quiet'), row('old', 'mention')]
  changeUnread([row('b', 'board_waits'), row('a', 'approval_asked'), ...others])
  await vi.waitFor(() => expect([...shown.keys()]).toEqual([approval, board]), { timeout: 5_000 })

  changeUnread([row('a', 'approval_asked')])
  await vi.waitFor(() => expect([...shown.keys()]).toEqual([approval]), { timeout: 5_000 })
  shown.get(approval)?.onclick()
  expect(onGo).toHaveBeenCalledWith('/w/tours/c/kyoto#m')
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['POST /notifications/read', { ids: ['a'] }]]))
})
