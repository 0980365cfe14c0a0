/** Tests several tabs of one browser: each tab is an iframe, and they share the browser's storage and locks. */
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

/** The ids of the messages posted to the server, in order, and the response. */
let posted: string[]
let respond: () => Promise<void>

async function openTab(): Promise<Tab> {
  const frame = document.createElement('iframe')
  frame.srcdoc = page
  document.body.append(frame)
  const tab = frame.contentWindow as TabWindow
  tab.server = async body => {
    const { id } = JSON.parse(body) as NewMessage
    posted.push(id)
    await respond()
    const row = JSON.stringify({ kind: 'message', id, version: 1 })
    return new Response(row, { status: 201, headers: { 'content-type': 'application/json' } })
  }
  await vi.waitFor(() => expect(tab.outbox).toBeDefined(), 10_000)
  return { frame, send: (chatId, message) => tab.outbox.send(chatId, message) }
}

const sendText = (tab: Tab, id: string) => tab.send('chat', { id, text: id, wake: 'auto' })
const dispatchOnline = (tab: Tab) => tab.frame.contentWindow?.dispatchEvent(new Event('online'))
const listStoredKeys = () => Object.keys(localStorage).filter(name => name.startsWith('atelier.unsent'))

const failToFetch = () => Promise.reject(new TypeError('Failed to fetch'))

beforeEach(() => {
  // biome-ignore lint/suspicious/noDocumentCookie: as the server sets it
  document.cookie = 'csrftoken=x'
  localStorage.clear()
  posted = []
  respond = () => Promise.resolve()
})

afterEach(() => {
  for (const frame of document.querySelectorAll('iframe')) frame.remove()
  localStorage.clear()
})

it('keeps the messages that two tabs could not send and sends them in the order of writing', async () => {
  const [one, two] = [await openTab(), await openTab()]
  respond = failToFetch
  await sendText(one, '1')
  await sendText(two, '2')
  await sendText(one, '3')
  expect(listStoredKeys()).toHaveLength(3)
  one.frame.remove()
  two.frame.remove()

  posted = []
  respond = () => Promise.resolve()
  await openTab()
  await vi.waitFor(() => expect(listStoredKeys()).toEqual([]))
  expect(posted).toEqual(['1', '2', '3'])
})

it('sends each message once and in order when both tabs are online again', async () => {
  const [one, two] = [await openTab(), await openTab()]
  respond = failToFetch
  await sendText(one, '1')
  await sendText(two, '2')
  await sendText(one, '3')

  posted = []
  respond = () => Promise.resolve()
  dispatchOnline(two)
  dispatchOnline(one)
  await vi.waitFor(() => expect(listStoredKeys()).toEqual([]))
  expect(posted).toEqual(['1', '2', '3'])
})

it('sends the message that a closed tab was sending', async () => {
  const [one] = [await openTab(), await openTab()]
  respond = () => new Promise(() => undefined)
  void sendText(one, '1')
  await vi.waitFor(() => expect(posted).toEqual(['1']))
  respond = () => Promise.resolve()
  one.frame.remove()
  await vi.waitFor(() => expect(listStoredKeys()).toEqual([]), 12_000)
  expect(posted).toEqual(['1', '1'])
})
