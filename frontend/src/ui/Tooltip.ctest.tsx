import { expect, it } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Dialog } from './Dialog'
import { Tooltip } from './Tooltip'

const text = 'Only editors save versions.'

it('is above its control, or below it at the top of the screen, and never beyond the edge', async () => {
  const screen = await render(
    <>
      <div style={{ position: 'fixed', top: 0, left: 0 }}>
        <Tooltip text={text}>
          <button type="button">corner</button>
        </Tooltip>
      </div>
      <div style={{ position: 'fixed', top: 200, left: 200 }}>
        <Tooltip text={text}>
          <button type="button">middle</button>
        </Tooltip>
      </div>
    </>,
  )
  const measure = async (name: string) => {
    const control = screen.getByRole('button', { name })
    await control.click()
    await expect.element(screen.getByRole('tooltip')).toHaveTextContent(text)
    return { control: control.element().getBoundingClientRect(), tip: measureTooltip() }
  }
  const measureTooltip = () => screen.getByRole('tooltip').element().getBoundingClientRect()
  const corner = await measure('corner')
  expect(corner.tip.top).toBeCloseTo(corner.control.bottom + 6, 0)
  expect(corner.tip.left).toBe(8)
  const middle = await measure('middle')
  expect(middle.tip.bottom).toBeCloseTo(middle.control.top - 6, 0)
  const center = middle.control.left + middle.control.width / 2
  expect(Math.abs(middle.tip.left + middle.tip.width / 2 - center)).toBeLessThanOrEqual(1) // whole pixels
})

it('is hidden by Escape, which does not close the dialog around it', async () => {
  const screen = await render(
    <Dialog open onOpenChange={open => expect(open).toBe(true)} title="Save">
      <Tooltip text={text}>
        <button type="button">Save</button>
      </Tooltip>
    </Dialog>,
  )
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(screen.getByRole('tooltip')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByRole('tooltip')).not.toBeInTheDocument()
  await expect.element(screen.getByRole('dialog')).toBeVisible()
})

it('is not shown without a text', async () => {
  const screen = await render(
    <Tooltip text={null}>
      <button type="button">Save</button>
    </Tooltip>,
  )
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(screen.getByRole('tooltip')).not.toBeInTheDocument()
  await expect.element(screen.getByRole('button', { name: 'Save' })).toHaveFocus()
})
