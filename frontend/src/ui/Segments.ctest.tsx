import { useState } from 'react'
import { expect, it } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Segments } from './Segments'

function Columns() {
  const [value, setValue] = useState<'one' | 'two'>('one')
  const options = [
    { value: 'one', label: 'One' },
    { value: 'two', label: 'Two' },
  ] as const
  return <Segments label="Columns" value={value} options={options} onChange={setValue} />
}

it('chooses one segment by pointer or keyboard, and never none', async () => {
  const screen = await render(<Columns />)
  const [one, two] = [screen.getByRole('radio', { name: 'One' }), screen.getByRole('radio', { name: 'Two' })]
  await expect.element(screen.getByRole('radiogroup', { name: 'Columns' })).toBeVisible()
  await expect.element(one).toBeChecked()
  await two.click()
  await expect.element(two).toBeChecked()
  await two.click()
  await expect.element(two).toBeChecked()
  await userEvent.keyboard('{ArrowLeft}')
  await expect.element(one).toHaveFocus()
  await userEvent.keyboard(' ')
  await expect.element(one).toBeChecked()
})
