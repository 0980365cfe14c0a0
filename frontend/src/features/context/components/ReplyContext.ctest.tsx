import { expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ContextFacts } from '../facts'
import { ReplyContext } from './ReplyContext'

const facts: ContextFacts = {
  strategy: 'retrieve',
  summary_id: null,
  summary_through: null,
  found: [
    { seq: 7, message_id: 'seven' },
    { seq: 1200, message_id: 'later' },
  ],
  events: 0,
  pinned: 0,
  turns: 12,
}

const open = async (changes: Partial<ContextFacts> = {}) => {
  const goTo = vi.fn()
  await render(<ReplyContext chatId="c" goTo={goTo} facts={{ ...facts, ...changes }} />)
  return goTo
}

it('lists the found messages, and opens one in its place by keyboard', async () => {
  const goTo = await open()
  await expect.element(page.getByText('2 found + 12 turns')).toBeVisible()
  await userEvent.keyboard('{Tab}{Enter}')
  const list = page.getByRole('dialog', { name: 'Messages that it found' })
  await expect.element(list.getByRole('button', { name: 'Open message 7' })).toHaveFocus()
  await userEvent.keyboard('{Tab}{Enter}')
  expect(goTo).toHaveBeenCalledExactlyOnceWith('later')
  await expect.element(list).not.toBeInTheDocument()
})

it('closes the list by Escape, and opens nothing', async () => {
  const goTo = await open()
  await page.getByRole('button', { name: '2 found' }).click()
  await expect.element(page.getByRole('dialog')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(page.getByRole('dialog')).not.toBeInTheDocument()
  await expect.element(page.getByRole('button', { name: '2 found' })).toHaveFocus()
  expect(goTo).not.toHaveBeenCalled()
})

it('has a button for the summary and one for the found messages', async () => {
  await open({ summary_id: 's', summary_through: 5 })
  await expect.element(page.getByText('summary + 2 found + 12 turns')).toBeVisible()
  await expect.element(page.getByRole('button', { name: 'summary' })).toBeVisible()
})

it('says that the conversation was shortened', async () => {
  await open({ found: [], is_shortened: true, turns: 3 })
  await expect.element(page.getByText('shortened to 3 turns, because the model reads no more')).toBeVisible()
})

it('has no list without found messages', async () => {
  await open({ found: [] })
  await expect.element(page.getByText('12 turns')).toBeVisible()
  await expect.element(page.getByRole('button')).not.toBeInTheDocument()
})
