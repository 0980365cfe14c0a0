import { useState } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Dialog } from './Dialog'

function Rename({ children }: { children?: React.ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Rename
      </button>
      <Dialog open={isOpen} onOpenChange={setOpen} title="Rename the chat" description="Everybody sees the new name.">
        <input aria-label="Name" />
        {children}
      </Dialog>
    </>
  )
}

afterEach(() => {
  vi.restoreAllMocks()
})

it('has a name and a description, keeps the focus inside, and restores it on close', async () => {
  const screen = await render(<Rename />)
  const open = screen.getByRole('button', { name: 'Rename' })
  await open.click()
  const dialog = screen.getByRole('dialog', { name: 'Rename the chat' })
  await expect.element(dialog).toHaveAccessibleDescription('Everybody sees the new name.')
  for (let press = 0; press < 5; press++) {
    await userEvent.keyboard('{Tab}')
    expect(dialog.element().contains(document.activeElement)).toBe(true)
  }
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog).not.toBeInTheDocument()
  await expect.element(open).toHaveFocus()
})

it('is closed by its button and by a click outside', async () => {
  const screen = await render(<Rename />)
  const open = screen.getByRole('button', { name: 'Rename' })
  const dialog = screen.getByRole('dialog')
  await open.click()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  await open.click()
  await expect.element(dialog).toBeVisible()
  await userEvent.click(document.body, { position: { x: 5, y: 5 }, force: true })
  await expect.element(dialog).not.toBeInTheDocument()
})

it('can be closed when its content cannot be rendered', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const Broken = () => {
    throw new Error('broken')
  }
  const screen = await render(
    <Rename>
      <Broken />
    </Rename>,
  )
  await screen.getByRole('button', { name: 'Rename' }).click()
  const dialog = screen.getByRole('dialog')
  await expect.element(dialog.getByRole('button', { name: 'Try again' })).toBeVisible()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
})
