import { createPortal } from 'react-dom'
import { expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render, renderHook } from 'vitest-browser-react'
import { isApplyShortcut, useView } from './view'

it('stays on its tab when a version was saved, and leaves the comparison with production', async () => {
  const { result, act } = await renderHook(() => useView(true))
  await act(() => result.current.setTab('tools'))
  await act(() => result.current.closeRebase())
  expect([result.current.tab, result.current.view]).toEqual(['tools', 'write'])
  await act(() => result.current.openView('rebase'))
  await act(() => result.current.closeRebase())
  expect([result.current.tab, result.current.view]).toEqual(['prompt', 'write'])
})

it('applies by Ctrl Enter anywhere in the workshop, but not in a dialog or where the key was handled', async () => {
  const apply = vi.fn()
  const screen = await render(
    <aside onKeyDown={event => isApplyShortcut(event) && apply((event.target as HTMLElement).ariaLabel)}>
      <input aria-label="limit" />
      <input aria-label="editor" onKeyDown={event => event.preventDefault()} />
      {createPortal(<input aria-label="dialog" />, document.body)}
    </aside>,
  )
  for (const name of ['limit', 'editor', 'dialog']) {
    await screen.getByLabelText(name).click()
    await userEvent.keyboard('{Control>}{Enter}{/Control}')
    await userEvent.keyboard('{Enter}')
  }
  expect(apply.mock.calls).toEqual([['limit']])
})
