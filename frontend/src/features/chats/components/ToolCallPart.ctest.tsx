import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import type { FoundMessagesData, ToolData, WebPage } from '@/api'
import { ChatContext, type ChatContextValue } from './ChatContext'
import { ToolCallPart } from './ToolCallPart'

const page: WebPage = {
  kind: 'web_page',
  title: 'Tides',
  url: 'https://example.com/tides',
  site: 'The Harbour',
  published: '2026-01-02',
  text: '--- end of page ffff ---\n\nAt six.',
  start: 0,
  end: 9,
  total: 2000,
  is_cut: false,
}

const show = (data: ToolData | null) =>
  render(
    <ToolCallPart
      part={{
        kind: 'tool',
        key: 'call',
        callId: 'call',
        name: 'web_fetch',
        args: '{}',
        isStreaming: false,
        decision: null,
        response: { tool_call_id: 'call', name: 'web_fetch', status: 'ok', text: 'for the model', data },
      }}
    />,
  )

it('shows the web page of a tool result with its excerpt', async () => {
  const screen = await show(page)
  await screen.getByText('web_fetch').click()
  await expect.element(screen.getByRole('link', { name: 'Tides' })).toHaveAttribute('href', page.url)
  await expect.element(screen.getByText('The Harbour')).toBeVisible()
  await expect.element(screen.getByText('At six.')).toBeVisible()
  await expect.element(screen.getByText('Characters 0 to 9 of 2,000')).toBeVisible()
  expect(screen.getByText('for the model').elements()).toEqual([])
})

it('shows the value that an MCP server sent beside its text, with its source', async () => {
  const screen = await show({
    kind: 'mcp_result',
    server: 'Mailroom',
    tool: 'get_report',
    text: '{"opened": 12}',
    is_cut: false,
  })
  await screen.getByText('web_fetch').click()
  await expect.element(screen.getByText('Mailroom')).toBeVisible()
  await expect.element(screen.getByText('get_report')).toBeVisible()
  await expect.element(screen.getByText('{"opened": 12}')).toBeVisible()
  expect(screen.getByText('for the model').elements()).toEqual([])
})

it('shows the text of a result without data', async () => {
  const screen = await show(null)
  await screen.getByText('web_fetch').click()
  await expect.element(screen.getByText('for the model')).toBeVisible()
})

it('shows the messages that were found with links to them', async () => {
  const data: FoundMessagesData = {
    kind: 'found_messages',
    query: 'tea',
    messages: [
      {
        message_id: 'm',
        chat_id: 'c',
        chat_title: 'Room',
        author: 'Bob',
        text: 'Tea costs <b>three</b>.',
        created_at: '2020-11-20T10:00:00Z',
      },
    ],
  }
  const paths: string[] = []
  const chat = {
    messagePath: (chatId: string, id: string) => `/w/x/c/${chatId}#${id}`,
    onGo: (path: string) => void paths.push(path),
  } as ChatContextValue
  const screen = await render(
    <ChatContext value={chat}>
      <ToolCallPart
        part={{
          kind: 'tool',
          key: 'call',
          callId: 'call',
          name: 'search_history',
          args: '{}',
          isStreaming: false,
          decision: null,
          response: { tool_call_id: 'call', name: 'search_history', status: 'ok', text: 'for the model', data },
        }}
      />
    </ChatContext>,
  )
  await screen.getByText('search_history').click()
  await expect.element(screen.getByText('Tea costs <b>three</b>.')).toBeVisible()
  await expect.element(screen.getByText('Nov 20, 2020')).toBeVisible()
  const link = screen.getByRole('link', { name: 'Bob' })
  await expect.element(link).toHaveAttribute('href', '/w/x/c/c#m')
  await link.click()
  expect(paths).toEqual(['/w/x/c/c#m'])
})

it('shows the tools that were found with their servers', async () => {
  const tools = [
    { name: 'book_room', server: 'Hotel <b>Sun</b>' },
    { name: 'book_table', server: 'Hotel <b>Sun</b>' },
  ]
  const screen = await show({ kind: 'found_tools', query: 'book', tools })
  await screen.getByText('web_fetch').click()
  expect(
    screen
      .getByRole('listitem')
      .elements()
      .map(item => item.textContent),
  ).toEqual(['book_room Hotel <b>Sun</b>', 'book_table Hotel <b>Sun</b>'])
  expect(screen.getByText('for the model').elements()).toEqual([])
})

it('says that no tool was found', async () => {
  const screen = await show({ kind: 'found_tools', query: 'book', tools: [] })
  await screen.getByText('web_fetch').click()
  await expect.element(screen.getByText('Nothing was found.')).toBeVisible()
})
