/** Tabs of one browser: frames of their own, with the browser's own storage and locks between them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { NewMessage } from '@/api'

interface Tab {
  frame: HTMLIFrameElement
  send(chatId: string, message: NewMessage): Promise<void>
}

interface TabWindow extends Window {
  outbox: Pick<Tab, 'send'>
  server(body: string): Promise<Response>
}

const page = `
  <script>window.fetch = async request => window.server(await request.text())</script>
  <script type="module">
    import { setStorageOwner } from '/src/lib/storage.ts'
    import { send, startOutbox } from '/src/features/chats/outbox.ts'
    setStorageOwner('alice')
    startOutbox()
    window.outbox = { send }
  </script>`

/** The ids that the server was sent, in order, and what it does with them. */
let posted: string[]
let serve: () => Promise<void>

async function openTab(): Promise<Tab> {
  const frame = document.createElement('iframe')
  frame.srcdoc = page
  document.body.append(frame)
  const tab = frame.contentWindow as TabWindow
  tab.server = async body => {
    const { id } = JSON.parse(body) as NewMessage
    posted.push(id)
    await serve()
    const row = JSON.stringify({ kind: 'message', id, version: 1 })
    return new Response(row, { status: 201, headers: { 'content-type': 'application/json' } })
  }
  await vi.waitFor(() => expect(tab.outbox).toBeDefined(), 10_000)
  return { frame, send: (chatId, message) => tab.outbox.send(chatId, message) }
}

const sendText = (tab: Tab, id: string) => tab.send('chat', { id, text: id, wake: 'auto' })
const online = (tab: Tab) => tab.frame.contentWindow?.dispatchEvent(new Event('online'))
const stored = () => Object.keys(localStorage).filter(name => name.startsWith('atelier.unsent'))

const offline = () => Promise.reject(new TypeError('Failed to fetch'))

beforeEach(() => {
  // biome-ignore lint/suspicious/noDocumentCookie: as the server sets it
  document.cookie = 'csrftoken=x'
  localStorage.clear()
  posted = []
  serve = () => Promise.resolve()
})

afterEach(() => {
  for (const frame of document.querySelectorAll('iframe')) frame.remove()
  localStorage.clear()
})

it('loses nothing of what two tabs could not send, and sends it in the order in which it was written', async () => {
  const [one, two] = [await openTab(), await openTab()]
  serve = offline
  await sendText(one, '1')
  await sendText(two, '2')
  await sendText(one, '3')
  expect(stored()).toHaveLength(3)
  one.frame.remove()
  two.frame.remove()

  posted = []
  serve = () => Promise.resolve()
  await openTab()
  await vi.waitFor(() => expect(stored()).toEqual([]))
  expect(posted).toEqual(['1', '2', '3'])
})

it('sends each message once, in order, when both tabs find the server again', async () => {
  const [one, two] = [await openTab(), await openTab()]
  serve = offline
  await sendText(one, '1')
  await sendText(two, '2')
  await sendText(one, '3')

  posted = []
  serve = () => Promise.resolve()
  online(two)
  online(one)
  await vi.waitFor(() => expect(stored()).toEqual([]))
  expect(posted).toEqual(['1', '2', '3'])
})

it('sends what a tab that was closed had on its way', async () => {
  const [one] = [await openTab(), await openTab()]
  serve = () => new Promise(() => undefined)
  void sendText(one, '1')
  await vi.waitFor(() => expect(posted).toEqual(['1']))
  serve = () => Promise.resolve()
  one.frame.remove()
  await vi.waitFor(() => expect(stored()).toEqual([]), 12_000)
  expect(posted).toEqual(['1', '1'])
})
