import { useRef } from 'react'
import { expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { useStickToEnd } from './stickToEnd'

type Sticking = ReturnType<typeof useStickToEnd>

/** Renders a log of 400 px with `height` px of content, and returns it with the values of the last render. */
async function renderLog(height: number) {
  const latest: { sticking: Sticking | null } = { sticking: null }
  function Log({ height }: { height: number }) {
    const scroller = useRef<HTMLDivElement>(null)
    latest.sticking = useStickToEnd(scroller, true)
    return (
      <div
        ref={scroller}
        role="log"
        style={{ height: 400, overflow: 'auto' }}
        onScroll={latest.sticking.onScroll}
        onPointerDown={latest.sticking.onPress}
      >
        <div style={{ height }} />
      </div>
    )
  }
  const screen = await render(<Log height={height} />)
  const log = screen.getByRole('log').element() as HTMLElement
  return {
    log,
    sticking: () => latest.sticking as Sticking,
    grow: (height: number) => screen.rerender(<Log height={height} />),
  }
}

const scrolled = (log: HTMLElement) =>
  new Promise<void>(done => log.addEventListener('scroll', () => setTimeout(done), { once: true }))

it('follows the end while the log grows', async () => {
  const { log, grow, sticking } = await renderLog(2000)
  expect(log.scrollTop).toBe(1600)
  await grow(3000)
  await vi.waitFor(() => expect(log.scrollTop).toBe(2600))
  expect(sticking().isAtEnd).toBe(true)
})

it('stays at the message that it was scrolled to, though the list scrolls near the end before', async () => {
  const { log, sticking } = await renderLog(2000)
  sticking().stopSticking()
  for (const top of [1590, 0]) {
    const event = scrolled(log)
    log.scrollTop = top
    await event
  }
  expect([log.scrollTop, sticking().isAtEnd]).toEqual([0, false])
})

it('follows the end again when the list was scrolled to the last message', async () => {
  const { log, grow } = await renderLog(2000).then(shown => {
    shown.sticking().stopSticking()
    return shown
  })
  await new Promise(done => setTimeout(done, 1_100))
  await grow(3000)
  await vi.waitFor(() => expect(log.scrollTop).toBe(2600))
})

it('does not scroll while a button is pressed, so that the click reaches it, and follows the end afterwards', async () => {
  const { log, grow } = await renderLog(2000)
  log.firstElementChild?.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
  await grow(3000)
  await new Promise(done => setTimeout(done, 50))
  expect(log.scrollTop).toBe(1600)
  window.dispatchEvent(new PointerEvent('pointerup'))
  await vi.waitFor(() => expect(log.scrollTop).toBe(2600))
})
