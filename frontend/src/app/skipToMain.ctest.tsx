import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { skipToMain } from './skipToMain'

it('moves the focus to the composer of a chat', async () => {
  const screen = await render(
    <main>
      <div data-pane="composer">
        <textarea aria-label="Message" />
      </div>
    </main>,
  )
  skipToMain()
  await expect.element(screen.getByLabelText('Message')).toHaveFocus()
})

it('moves the focus to the main element of any other screen', async () => {
  const screen = await render(<main>Files</main>)
  skipToMain()
  await expect.element(screen.getByRole('main')).toHaveFocus()
})
