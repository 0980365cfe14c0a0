import { useEffect } from 'react'
import { expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { useLatest } from './latest'
import { observable, useSelector } from './observable'

it('a part is read once for each value, however often its component draws', async () => {
  const source = observable({ count: 1 })
  const part = vi.fn(({ count }: { count: number }) => count)
  const Display = ({ other }: { other: string }) => (
    <p>
      {useSelector(source, part)} {other}
    </p>
  )
  const screen = await render(<Display other="a" />)
  await screen.rerender(<Display other="b" />)
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
  const Display = () => {
    drawn()
    return <p>{useSelector(source, part, isEqual).join()}</p>
  }
  const screen = await render(<Display />)
  source.set([0, 2])
  source.set([2, 3])
  await expect.element(screen.getByText('2,3')).toBeVisible()
  expect(drawn).toHaveBeenCalledTimes(2)
})

it('the end of an effect finds what was drawn last', async () => {
  const found = vi.fn()
  const Display = ({ value }: { value: string }) => {
    const latest = useLatest(value)
    // biome-ignore lint/correctness/useExhaustiveDependencies: it ends with each value
    useEffect(() => () => found(latest.current), [value])
    return <p>{value}</p>
  }
  const screen = await render(<Display value="old" />)
  await screen.rerender(<Display value="new" />)
  expect(found).toHaveBeenCalledExactlyOnceWith('new')
})
