import { useEffect } from 'react'
import { expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { useLatest } from './latest'
import { observable, usePart } from './observable'

it('a part is read once for each value, however often its component draws', async () => {
  const source = observable({ count: 1 })
  const part = vi.fn(({ count }: { count: number }) => count)
  const Shown = ({ other }: { other: string }) => (
    <p>
      {usePart(source, part)} {other}
    </p>
  )
  const screen = await render(<Shown other="a" />)
  await screen.rerender(<Shown other="b" />)
  await expect.element(screen.getByText('1 b')).toBeVisible()
  expect(part).toHaveBeenCalledTimes(1)
  source.set({ count: 2 })
  await expect.element(screen.getByText('2 b')).toBeVisible()
  expect(part).toHaveBeenCalledTimes(2)
})

it('a part that is equal stays the same object, and nothing is drawn', async () => {
  const source = observable([1, 2])
  const drawn = vi.fn()
  const part = (all: number[]) => all.filter(each => each > 1)
  const isEqual = (a: number[], b: number[]) => a.join() === b.join()
  const Shown = () => {
    drawn()
    return <p>{usePart(source, part, isEqual).join()}</p>
  }
  const screen = await render(<Shown />)
  source.set([0, 2])
  source.set([2, 3])
  await expect.element(screen.getByText('2,3')).toBeVisible()
  expect(drawn).toHaveBeenCalledTimes(2)
})

it('the end of an effect finds what was drawn last', async () => {
  const found = vi.fn()
  const Shown = ({ value }: { value: string }) => {
    const latest = useLatest(value)
    // biome-ignore lint/correctness/useExhaustiveDependencies: it ends with each value
    useEffect(() => () => found(latest.current), [value])
    return <p>{value}</p>
  }
  const screen = await render(<Shown value="old" />)
  await screen.rerender(<Shown value="new" />)
  expect(found).toHaveBeenCalledExactlyOnceWith('new')
})
