import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { LazyPart } from '@/ui/LazyPart'
import { lazy } from '@/ui/lazy'
import { LazyPage } from './LazyPage'

const Never = lazy(() => new Promise<{ default: () => null }>(() => undefined))

it('is a skeleton in the main part of the page until its code is loaded', async () => {
  const screen = await render(
    <LazyPage>
      <Never />
    </LazyPage>,
  )
  await expect.element(screen.getByRole('main').getByRole('status', { name: 'Loading' })).toBeVisible()
  await expect.poll(() => screen.container.querySelectorAll('[data-slot=skeleton] > *').length).toBe(6)
})

it('leaves the rest of a page as it is when only a part is loaded', async () => {
  const screen = await render(
    <main>
      <h1>Tools</h1>
      <LazyPart>
        <Never />
      </LazyPart>
    </main>,
  )
  await expect.element(screen.getByRole('heading', { name: 'Tools' })).toBeVisible()
  await expect.element(screen.getByRole('status', { name: 'Loading' })).toBeVisible()
})
