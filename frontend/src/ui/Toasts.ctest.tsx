import { expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { useShortcuts } from '@/lib/actions'
import { Dialog } from './Dialog'
import { Toasts } from './Toasts'
import { showToast } from './toast'

function Screen() {
  useShortcuts()
  return (
    <>
      <button type="button">elsewhere</button>
      <Toasts />
    </>
  )
}

it('stacks toasts, keeps them while the pointer is over them, and is focused by F8', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const undo = vi.fn()
  const screen = await render(<Screen />)
  screen.getByRole('button', { name: 'elsewhere' }).element().focus()
  showToast('The chat was renamed.')
  showToast('Bob was removed.', { label: 'Undo', run: undo })
  const list = screen.getByRole('region', { name: 'Messages (F8)' })
  await expect.element(list.getByText('The chat was renamed.')).toBeVisible()
  await userEvent.hover(list.getByText('Bob was removed.'))
  await vi.advanceTimersByTimeAsync(60_000)
  await expect.element(list.getByText('Bob was removed.')).toBeVisible()
  await userEvent.keyboard('{F8}')
  expect(document.activeElement?.closest('li')?.textContent).toContain('renamed')
  await userEvent.click(screen.getByRole('button', { name: 'Undo' }))
  expect(undo).toHaveBeenCalledOnce()
  await expect.element(list.getByText('Bob was removed.')).not.toBeInTheDocument()
  await list.getByRole('button', { name: 'Dismiss' }).click()
  await expect.element(screen.getByRole('button', { name: 'elsewhere' })).toHaveFocus()
  vi.useRealTimers()
})

it('closes toasts after a while and shows the same text once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const screen = await render(<Screen />)
  showToast('Copied.')
  showToast('Copied.')
  const list = screen.getByRole('region', { name: 'Messages (F8)' })
  await expect.element(list.getByRole('listitem')).toHaveTextContent('Copied.')
  await vi.advanceTimersByTimeAsync(11_000)
  await expect.element(list.getByText('Copied.')).not.toBeInTheDocument()
  vi.useRealTimers()
})

it('can be used by keyboard and by a screen reader while a dialog is open', async () => {
  const undo = vi.fn()
  const onOpenChange = vi.fn()
  const screen = await render(
    <>
      <Screen />
      <Dialog open onOpenChange={onOpenChange} title="People">
        <input aria-label="Name" />
      </Dialog>
    </>,
  )
  const field = screen.getByRole('textbox', { name: 'Name' })
  await field.click()
  showToast('Bob was removed.', { label: 'Undo', run: undo })
  const button = screen.getByRole('button', { name: 'Undo' })
  await expect.element(button).toBeVisible()
  await userEvent.keyboard('{F8}')
  await expect.element(button).toHaveFocus()
  await userEvent.keyboard('{F8}')
  await expect.element(field).toHaveFocus()
  await userEvent.keyboard('{F8}')
  await userEvent.keyboard('{Enter}')
  expect(undo).toHaveBeenCalledOnce()
  await expect.element(field).toHaveFocus()
  await expect.element(button).not.toBeInTheDocument()
  expect(onOpenChange).not.toHaveBeenCalled()
})

it('leaves Escape to the dialog below, unless the focus is on a toast', async () => {
  const onOpenChange = vi.fn()
  const screen = await render(
    <>
      <Screen />
      <Dialog open onOpenChange={onOpenChange} title="People">
        <input aria-label="Name" />
      </Dialog>
    </>,
  )
  await screen.getByRole('textbox', { name: 'Name' }).click()
  showToast('Scribe looks again.', { label: 'Undo', run: vi.fn() })
  const button = screen.getByRole('button', { name: 'Undo' })
  await expect.element(button).toBeVisible()
  await userEvent.keyboard('{Escape}')
  expect(onOpenChange.mock.calls).toEqual([[false]])
  await expect.element(button).toBeVisible()
  await userEvent.keyboard('{F8}{Escape}')
  await expect.element(button).not.toBeInTheDocument()
  expect(onOpenChange).toHaveBeenCalledOnce()
})

it('shows a text without an action for a shorter time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const screen = await render(<Screen />)
  showToast('Saved.')
  showToast('Forgotten.', { label: 'Undo', run: vi.fn() })
  await expect.element(screen.getByText('Saved.')).toBeVisible()
  await vi.advanceTimersByTimeAsync(5_000)
  await expect.element(screen.getByText('Saved.')).not.toBeInTheDocument()
  await expect.element(screen.getByText('Forgotten.')).toBeVisible()
  vi.useRealTimers()
})
