import { useState } from 'react'
import { expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Button } from './Button'

const reason = 'Name a model first.'

it('shows why it is blocked on hover, focus and click', async () => {
  const press = vi.fn()
  const screen = await render(
    <>
      <Button blocked={reason} onClick={press}>
        Save
      </Button>
      <input aria-label="elsewhere" />
    </>,
  )
  const button = screen.getByRole('button', { name: 'Save' })
  await expect.element(button).toHaveAttribute('aria-description', reason)
  await userEvent.keyboard('{Tab}')
  await expect.element(button).toHaveFocus()
  await expect.element(screen.getByRole('tooltip')).toHaveTextContent(reason)
  await screen.getByLabelText('elsewhere').click()
  await expect.element(screen.getByRole('tooltip')).not.toBeInTheDocument()
  await button.hover()
  await expect.element(screen.getByRole('tooltip')).toHaveTextContent(reason)
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByRole('tooltip')).not.toBeInTheDocument()
  await userEvent.click(button, { force: true })
  await expect.element(screen.getByRole('tooltip')).toHaveTextContent(reason)
  expect(press).not.toHaveBeenCalled()
})

function Once() {
  const [isDone, setDone] = useState(false)
  return (
    <Button blocked={isDone ? 'It is done already.' : false} onClick={() => setDone(true)}>
      Apply
    </Button>
  )
}

it('keeps the focus when its action blocks it', async () => {
  const screen = await render(<Once />)
  const button = screen.getByRole('button', { name: 'Apply' })
  await button.click()
  await expect.element(button).toHaveAttribute('aria-disabled', 'true')
  await expect.element(button).toHaveFocus()
})
