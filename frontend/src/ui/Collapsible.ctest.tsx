import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { Collapsible } from './Collapsible'

it('opens and closes with its button', async () => {
  const screen = await render(<Collapsible head="Details">the content</Collapsible>)
  const button = screen.getByRole('button', { name: 'Details' })
  await expect.element(button).toHaveAttribute('aria-expanded', 'false')
  await button.click()
  await expect.element(screen.getByText('the content')).toBeVisible()
  await expect.element(button).toHaveAttribute('aria-expanded', 'true')
  await button.click()
  await expect.element(screen.getByText('the content')).not.toBeInTheDocument()
})

it('follows the `open` prop until the reader opens or closes it', async () => {
  const collapsible = (open: boolean) => (
    <Collapsible head="Tool" open={open}>
      its result
    </Collapsible>
  )
  const screen = await render(collapsible(true))
  await expect.element(screen.getByText('its result')).toBeVisible()
  await screen.rerender(collapsible(false))
  await expect.element(screen.getByText('its result')).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Tool' }).click()
  await screen.rerender(collapsible(true))
  await screen.rerender(collapsible(false))
  await expect.element(screen.getByText('its result')).toBeVisible()
})
