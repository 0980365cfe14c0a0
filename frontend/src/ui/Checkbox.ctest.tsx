import { useState } from 'react'
import { expect, it } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Checkbox } from './Checkbox'

function All({ start }: { start: boolean | 'mixed' }) {
  const [checked, setChecked] = useState(start)
  return (
    <p style={{ padding: 20 }}>
      <Checkbox checked={checked} label="Select all" onChange={() => setChecked(checked !== true)} />
    </p>
  )
}

it('is toggled by a click near it or the space bar, and can be mixed', async () => {
  const screen = await render(<All start="mixed" />)
  const box = screen.getByRole('checkbox', { name: 'Select all' })
  await expect.element(box).toHaveAttribute('aria-checked', 'mixed')
  await box.click({ position: { x: -3, y: -3 }, force: true })
  await expect.element(box).toHaveAttribute('aria-checked', 'true')
  await userEvent.keyboard(' ')
  await expect.element(box).toHaveAttribute('aria-checked', 'false')
})
