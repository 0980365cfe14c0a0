import { useEffect } from 'react'
import { expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { useLatest } from './latest'
import { observable, useSelector } from './observable'

it('selects a part once per value, however often the component renders', async () => {
  const source = observable({ count: 1 })
  const select = vi.fn(({ count }: { count: number }) => count)
  const Display = ({ other }: { other: string }) => (
    <p>
      {useSelector(source, select)} {other}
    </p>
  )
  const screen = await render(<Display other="a" />)
  await screen.rerender(<Display other="b" />)
  await expect.element(screen.getByText('1 b')).toBeVisible()
  expect(select).toHaveBeenCalledTimes(1)
  source.set({ count: 2 })
  await expect.element(screen.getByText('2 b')).toBeVisible()
  expect(select).toHaveBeenCalledTimes(2)
})

it('keeps an equal part as the same object and does not render', async () => {
  const source = observable([1, 2])
  const rendered = vi.fn()
  const select = (all: number[]) => all.filter(number => number > 1)
  const isEqual = (a: number[], b: number[]) => a.join() === b.join()
  const Display = () => {
    rendered()
    return <p>{useSelector(source, select, isEqual).join()}</p>
  }
  const screen = await render(<Display />)
  source.set([0, 2])
  source.set([2, 3])
  await expect.element(screen.getByText('2,3')).toBeVisible()
  expect(rendered).toHaveBeenCalledTimes(2)
})

it('has the last rendered value in the clean-up of an effect', async () => {
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
