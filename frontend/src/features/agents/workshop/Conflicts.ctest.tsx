import { useState } from 'react'
import { beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { Provenance, SpecContent } from '@/api'
import { setStorageOwner } from '@/lib/storage'
import { Toasts } from '@/ui/Toasts'
import { Conflicts } from './Conflicts'
import type { Workshop } from './draftSession'
import { findSources } from './provenance'

const provenance = {
  origin: 'merge',
  contributors: [
    { id: 'bob', actor_id: 'bob', name: 'Bob', title: '', in_run_of: null },
    { id: 'carol', actor_id: 'carol', name: 'Carol', title: '', in_run_of: null },
  ],
  segments: [
    { text: '# Role\n', contributors: [], conflict: null },
    { text: 'Two lines.\n', contributors: ['bob'], conflict: 0 },
    { text: 'End.', contributors: [], conflict: null },
  ],
  conflicts: [
    {
      about: 'prompt',
      question: 'How long?',
      chosen: 0,
      choices: [
        { contributor: 'bob', text: 'Two lines.\n' },
        { contributor: 'carol', text: 'Three lines.\n' },
      ],
    },
  ],
} as unknown as Provenance

const start = { prompt: '# Role\nTwo lines.\nEnd.', tools: [], parameters: {}, limits: {} } as unknown as SpecContent
const onEdit = vi.fn()

interface ScreenProps {
  isMine?: boolean
  prompt?: string
  merged?: Provenance
}

function Screen({ isMine = true, prompt = start.prompt, merged = provenance }: ScreenProps) {
  const [content, setContent] = useState({ ...start, prompt })
  const edit = (next: SpecContent) => {
    onEdit(next.prompt)
    setContent(next)
  }
  const workshop = { draft: { id: 'd' }, content, isMine, edit } as unknown as Workshop
  return (
    <>
      <Conflicts provenance={merged} sources={findSources(merged, content)} workshop={workshop} />
      <Toasts />
    </>
  )
}

beforeEach(() => {
  onEdit.mockReset()
  localStorage.clear()
  setStorageOwner('alice')
})

it('replaces the chosen text in the prompt and restores it', async () => {
  const screen = await render(<Screen />)
  const bob = screen.getByRole('button', { name: /Bob/ })
  const carol = screen.getByRole('button', { name: /Carol/ })
  await expect.element(bob).toHaveAttribute('aria-pressed', 'true')
  await carol.click()
  // The list collapses when all conflicts are decided.
  await screen.getByRole('button', { name: /1 conflict/ }).click()
  await expect.element(carol).toHaveAttribute('aria-pressed', 'true')
  await expect.element(bob).toHaveAttribute('aria-pressed', 'false')
  await bob.click()
  expect(onEdit.mock.calls).toEqual([['# Role\nThree lines.\nEnd.'], ['# Role\nTwo lines.\nEnd.']])
})

it('keeps the lines of both, each with its contributor, and finds them again in the text', async () => {
  const screen = await render(<Screen />)
  const both = screen.getByRole('button', { name: /Keep both/ })
  await both.click()
  await screen.getByRole('button', { name: /1 conflict/ }).click()
  await expect.element(both).toHaveAttribute('aria-pressed', 'true')
  await expect.element(screen.getByRole('button', { name: /Bob/ })).toHaveAttribute('aria-pressed', 'false')
  await screen.getByRole('button', { name: /Carol/ }).click()
  expect(onEdit.mock.calls).toEqual([['# Role\nTwo lines.\nThree lines.\nEnd.'], ['# Role\nThree lines.\nEnd.']])
})

it('confirms the current choice without an edit', async () => {
  const screen = await render(<Screen />)
  await expect.element(screen.getByText('0 of 1', { exact: false })).toBeVisible()
  await screen.getByRole('button', { name: /Bob/ }).click()
  await expect.element(screen.getByText('1 of 1', { exact: false })).toBeVisible()
  expect(onEdit).not.toHaveBeenCalled()
})

it('does not replace a text that was edited by hand and shows a notice', async () => {
  const screen = await render(<Screen prompt={'# Role\nFour lines.\nEnd.'} />)
  await screen.getByRole('button', { name: /1 conflict/ }).click()
  await screen.getByRole('button', { name: /Carol/ }).click()
  await expect.element(screen.getByRole('region').getByRole('listitem')).toHaveTextContent(/edited/)
  expect(onEdit).not.toHaveBeenCalled()
})

it('says that the place of lines which a merge agent deleted is not known', async () => {
  const [bob, carol] = provenance.conflicts?.[0]?.choices ?? []
  const merged = {
    ...provenance,
    segments: [{ text: '# Role\nEnd.', contributors: [], conflict: null }],
    conflicts: [{ about: 'prompt', question: '', chosen: 1, choices: [bob, { ...carol, text: '' }] }],
  } as unknown as Provenance
  const screen = await render(<Screen prompt={'# Role\nEnd.'} merged={merged} />)
  await expect.element(screen.getByRole('button', { name: /Carol/ })).toHaveAttribute('aria-pressed', 'true')
  await screen.getByRole('button', { name: /Bob/ }).click()
  await expect.element(screen.getByText(/not known where these lines belong/)).toBeVisible()
  expect(onEdit).not.toHaveBeenCalled()
})

it('does not say that a conflict without a choice was changed by hand', async () => {
  const merged = { ...provenance, conflicts: [{ ...provenance.conflicts?.[0], chosen: null }] } as unknown as Provenance
  const screen = await render(<Screen prompt="End." merged={{ ...merged, segments: [] }} />)
  await expect.element(screen.getByText('How long?')).toBeVisible()
  await expect.element(screen.getByText('This was changed by hand.')).not.toBeInTheDocument()
})

it('disables the choices for a reader', async () => {
  const screen = await render(<Screen isMine={false} />)
  const carol = screen.getByRole('button', { name: /Carol/ })
  await expect.element(carol).toHaveAttribute('aria-disabled', 'true')
  ;(carol.element() as HTMLElement).click()
  expect(onEdit).not.toHaveBeenCalled()
})
