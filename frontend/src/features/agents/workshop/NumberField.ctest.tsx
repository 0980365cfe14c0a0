import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { NumberField } from './NumberField'

const onChange = vi.fn<(value: number | null) => void>()

interface LimitProps {
  start: number | null
  min: number
  max: number
  step?: number
  defaultValue?: number
}

/** A field of a form that puts its default back when the field is left empty. */
function Limit({ start, min, max, step = 1, defaultValue }: LimitProps) {
  const [value, setValue] = useState<number | null>(start)
  return (
    <NumberField
      label="Time limit"
      hint="Seconds"
      value={value}
      min={min}
      max={max}
      step={step}
      isReadOnly={false}
      onChange={next => {
        onChange(next)
        setValue(next ?? defaultValue ?? null)
      }}
    />
  )
}

async function typeInto(props: LimitProps, text: string) {
  onChange.mockClear()
  const screen = await render(<Limit {...props} />)
  const field = screen.getByLabelText('Time limit')
  await field.click()
  await userEvent.keyboard(`{Control>}a{/Control}{Delete}${text}`)
  await expect.element(field).toHaveValue(text)
  expect(onChange).not.toHaveBeenCalled()
  await userEvent.tab()
  return field
}

test('a number is typed digit by digit, without a separator, and reported once', async () => {
  const field = await typeInto({ start: 600, min: 5, max: 3_600 }, '1800')
  await expect.element(field).toHaveValue('1800')
  expect(onChange.mock.calls).toEqual([[1800]])
})

test('a field with a default can be cleared and typed again', async () => {
  const field = await typeInto({ start: 1_800, min: 5, max: 3_600, defaultValue: 1_800 }, '900')
  await expect.element(field).toHaveValue('900')
  expect(onChange.mock.calls).toEqual([[900]])
})

test('a fraction can be typed', async () => {
  const field = await typeInto({ start: null, min: 0.01, max: 1, step: 0.05 }, '0.9')
  await expect.element(field).toHaveValue('0.9')
  expect(onChange.mock.calls).toEqual([[0.9]])
})

test('a value below the minimum becomes the minimum on blur', async () => {
  const field = await typeInto({ start: 2_000, min: 500, max: 100_000 }, '9')
  await expect.element(field).toHaveValue('500')
  expect(onChange.mock.calls).toEqual([[500]])
})

test('an empty field means the default', async () => {
  const field = await typeInto({ start: 900, min: 5, max: 3_600, defaultValue: 1_800 }, '')
  await expect.element(field).toHaveValue('1800')
  expect(onChange.mock.calls).toEqual([[null]])
})

test('Enter reports the number and keeps the focus', async () => {
  onChange.mockClear()
  const screen = await render(<Limit start={600} min={5} max={3_600} />)
  const field = screen.getByLabelText('Time limit')
  await field.click()
  await userEvent.keyboard('{Control>}a{/Control}1200{Enter}')
  expect(onChange.mock.calls).toEqual([[1200]])
  await expect.element(field).toHaveFocus()
})

test('a focused field reports the typed value when it is unmounted', async () => {
  onChange.mockClear()
  const screen = await render(<Limit start={600} min={5} max={3_600} />)
  await screen.getByLabelText('Time limit').click()
  await userEvent.keyboard('{Control>}a{/Control}1200')
  await screen.unmount()
  expect(onChange.mock.calls).toEqual([[1200]])
})

test('the arrow keys move by a step within the limits, and a text that is no number changes nothing', async () => {
  onChange.mockClear()
  const screen = await render(<Limit start={0.9} min={0} max={1} step={0.1} />)
  const field = screen.getByLabelText('Time limit')
  await field.click()
  await userEvent.keyboard('{ArrowUp}{ArrowUp}{ArrowDown}')
  expect(onChange.mock.calls).toEqual([[1], [0.9]])
  await field.fill('much')
  await userEvent.tab()
  await expect.element(field).toHaveValue('0.9')
  expect(onChange).toHaveBeenCalledTimes(2)
})
