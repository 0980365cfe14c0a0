import axe from 'axe-core'
import { useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { page as browser, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ActorRow, FoundMessage, ListedChatRow, WorkspaceRow } from '@/api'
import { answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { changeSearch, type MessageSearch } from '../search'
import { SearchPage } from './SearchPage'

const workspace = { id: 'w', handle: 'lighthouse' } as unknown as WorkspaceRow
const actors = [
  { id: 'bob', kind: 'human', name: 'Bob', handle: 'bob' },
  { id: 'trip', kind: 'agent', name: 'Trip Planner', handle: 'trip-planner' },
] as unknown as ActorRow[]
const chats = [
  { chat: { id: 'kyoto', title: 'Kyoto autumn group' }, participants: actors },
] as unknown as ListedChatRow[]

const hit = (id: string, text: string, at: number): FoundMessage => ({
  message_id: id,
  chat_id: 'kyoto',
  chat_title: 'Kyoto autumn group',
  author: 'Bob',
  author_id: 'bob',
  text,
  marks: [{ start: at, end: at + 7 }],
  created_at: '2026-03-12T16:05:00Z',
})

const message = (id: string, text: string) => ({
  type: 'TEXT_MESSAGE',
  id,
  chat_id: 'kyoto',
  author_id: 'bob',
  payload: { text },
  metadata: null,
  created_at: '2026-03-12T16:05:00Z',
})

const deleted = { ...message('m3', ''), payload: { text: '', is_deleted: true } }
const unused = { ...message('m4', 'Another pricing.'), is_unused: true }

let requests: URLSearchParams[] = []

function answer(hits: readonly FoundMessage[], next: string | null = null) {
  requests = []
  answerRequests(({ path }) => {
    if (path.startsWith('/chats/kyoto/messages'))
      return [
        200,
        {
          ...page([message('m0', 'Before it.'), message('m1', 'The **pricing** of May.'), deleted, unused]),
          before: null,
          after: null,
          other_answers: [],
        },
      ]
    requests.push(new URLSearchParams(path.split('?')[1]))
    return [200, { results: hits, next }]
  })
}

const onGo = vi.fn()
let search: MessageSearch = {}

function Page({ initial }: { initial: MessageSearch }) {
  const [current, setCurrent] = useState(initial)
  search = current
  return (
    <SearchPage
      workspace={workspace}
      me="me"
      search={current}
      chats={chats}
      actors={actors}
      onSearch={change => setCurrent(before => changeSearch(before, change))}
      getPath={found => `/w/lighthouse/c/${found.chat_id}?find=pricing#${found.message_id}`}
      onGo={onGo}
    />
  )
}

const open = (initial: MessageSearch = {}) => render(withQueries(<Page initial={initial} />, newQueryClient()))

beforeEach(() => browser.viewport(1280, 800))

afterEach(() => {
  vi.restoreAllMocks()
  onGo.mockReset()
})

it('shows the hits with their words marked, and the first one in its place', async () => {
  answer([hit('m1', 'The pricing of May.', 4), hit('m2', 'Old pricing.', 4)])
  const screen = await open({ q: 'pricing' })
  await expect.element(screen.getByRole('status')).toHaveTextContent('2 messages found')
  const row = screen.getByRole('list', { name: 'Messages that were found' }).getByRole('button').first()
  await expect.element(row).toHaveAttribute('aria-current', 'true')
  expect(row.element().querySelector('mark')).toHaveTextContent('pricing')
  const place = screen.getByRole('region', { name: 'The message in its place' })
  await expect.element(place.getByText('Before it.')).toBeVisible()
  await expect.element(place.getByText('deleted message')).toBeVisible()
  await vi.waitFor(() => expect([...(CSS.highlights.get('found') ?? [])].map(String)).toEqual(['pricing']))
  await place.getByRole('button', { name: 'Open in chat' }).click()
  expect(onGo).toHaveBeenCalledWith('/w/lighthouse/c/kyoto?find=pricing#m1')
  const { violations } = await axe.run(document.body, { runOnly: ['wcag2a', 'wcag2aa', 'best-practice'] })
  expect(violations.map(violation => violation.id).filter(id => id !== 'region')).toEqual([])
})

it('turns typed filters into those of the page', async () => {
  answer([hit('m1', 'The pricing of May.', 4)])
  const screen = await open()
  await expect.element(screen.getByText('Find messages and files by their words')).toBeVisible()
  await userEvent.keyboard('pricing from:bob in:kyoto has:file before:2026-05-01{Enter}')
  await vi.waitFor(() =>
    expect(search).toEqual({ q: 'pricing', author: 'bob', chat: 'kyoto', file: true, ends: '2026-04-30' }),
  )
  await expect.element(screen.getByRole('searchbox')).toHaveValue('pricing')
  await expect.element(screen.getByRole('combobox', { name: 'Author' })).toHaveValue('bob')
  await expect.element(screen.getByRole('combobox', { name: 'Chat' })).toHaveValue('kyoto')
  await expect.element(screen.getByRole('button', { name: 'Has a file' })).toHaveAttribute('aria-pressed', 'true')
  await expect.element(screen.getByLabelText('Last day')).toHaveValue('2026-04-30')
  await vi.waitFor(() =>
    expect(Object.fromEntries(requests.at(-1) ?? [])).toMatchObject({
      q: 'pricing',
      author_id: 'bob',
      chat_id: 'kyoto',
      has_file: 'true',
      ends_on: '2026-04-30',
      order: 'best',
    }),
  )
})

it('says that nothing was found, and searches without the filters', async () => {
  answer([])
  const screen = await open({ q: 'pricng', chat: 'kyoto', order: 'newest' })
  await expect.element(screen.getByText('No matches for “pricng”')).toBeVisible()
  await screen.getByRole('button', { name: 'Search all chats, at any time' }).click()
  expect(search).toEqual({ q: 'pricng', order: 'newest' })
})

it('searches nothing for one letter', async () => {
  answer([])
  const screen = await open({ q: 'x' })
  await expect.element(screen.getByText('Type two letters or one Chinese character')).toBeVisible()
  expect(requests).toEqual([])
})

it('moves between the hits by keys', async () => {
  answer([hit('m1', 'The pricing of May.', 4), hit('m2', 'Old pricing.', 4)])
  const screen = await open({ q: 'pricing' })
  const rows = screen.getByRole('list', { name: 'Messages that were found' }).getByRole('button')
  await expect.element(rows.first()).toBeVisible()
  await userEvent.keyboard('{ArrowDown}')
  await expect.element(rows.first()).toHaveFocus()
  await userEvent.keyboard('j')
  await expect.element(rows.nth(1)).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  expect(search.m).toBe('m2')
  await userEvent.keyboard('{Home}{ArrowUp}')
  await expect.element(screen.getByRole('searchbox')).toHaveFocus()
})

it('shows the list and then the place on a phone', async () => {
  await browser.viewport(390, 844)
  answer([hit('m1', 'The pricing of May.', 4)])
  const screen = await open({ q: 'pricing' })
  const place = screen.getByRole('region', { name: 'The message in its place' })
  const row = screen.getByRole('list', { name: 'Messages that were found' }).getByRole('button')
  await expect.element(row).toBeVisible()
  await expect.element(place).not.toBeInTheDocument()
  await row.click()
  await expect.element(place).toBeVisible()
  await expect.element(row).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'All hits' }).click()
  await expect.element(row).toBeVisible()
})
