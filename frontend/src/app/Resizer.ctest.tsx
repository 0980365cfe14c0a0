import { useState } from 'react'
import { expect, it, vi } from 'vitest'
import { page } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { Resizer } from './Resizer'

function Panes({ onWidth }: { onWidth(width: number): void }) {
  const [width, setWidth] = useState(520)
  return (
    <aside style={{ width }}>
      <Resizer
        onWidth={next => {
          onWidth(next)
          setWidth(next)
        }}
      />
      Workshop
    </aside>
  )
}

it('reports the width of the workshop at first and after every change', async () => {
  await page.viewport(1280, 800)
  const onWidth = vi.fn()
  const screen = await render(<Panes onWidth={onWidth} />)
  const splitter = screen.getByRole('separator')
  await expect.element(splitter).toHaveAttribute('aria-valuenow', '520')
  splitter.element().dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))
  await expect.element(splitter).toHaveAttribute('aria-valuenow', '544')
  splitter.element().dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))
  await expect.element(splitter).toHaveAttribute('aria-valuenow', '520')
  expect(onWidth.mock.calls).toEqual([[544], [520]])
})
