import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import type { WebPage } from '@/api'
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

const show = (data: WebPage | null) =>
  render(
    <ToolCallPart
      part={{
        kind: 'tool',
        key: 'call',
        name: 'web_fetch',
        args: '{}',
        live: false,
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

it('shows the text of a result without data', async () => {
  const screen = await show(null)
  await screen.getByText('web_fetch').click()
  await expect.element(screen.getByText('for the model')).toBeVisible()
})
