import { useState } from 'react'
import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { type AvatarData, letterAvatar } from './Avatar'
import { AvatarPicker } from './AvatarPicker'

function Chosen({ start }: { start: AvatarData | null }) {
  const [avatar, setAvatar] = useState(start)
  return (
    <>
      <AvatarPicker id="one" name="Scribe" avatar={avatar} square canClear onChange={setAvatar} />
      <output>{JSON.stringify(avatar)}</output>
    </>
  )
}

it('chooses an emoji, then a letter on a colour, then none', async () => {
  const screen = await render(<Chosen start={null} />)
  const open = screen.getByRole('button', { name: 'Change the picture' })
  await open.click()
  await screen.getByRole('button', { name: '🧭' }).click()
  await expect.element(screen.getByText('{"kind":"emoji","emoji":"🧭"}')).toBeVisible()
  await open.click()
  await expect.element(screen.getByRole('button', { name: '🧭' })).toHaveAttribute('aria-pressed', 'true')
  await screen.getByRole('button', { name: 'S, color 3' }).click()
  await expect.element(screen.getByText('{"kind":"letter","letter":"S","color":3}')).toBeVisible()
  await open.click()
  await screen.getByRole('button', { name: 'Automatic' }).click()
  await expect.element(screen.getByText('null')).toBeVisible()
})

it('shows the chosen avatar', async () => {
  const screen = await render(<Chosen start={{ kind: 'emoji', emoji: '🦉' }} />)
  await expect.element(screen.getByRole('button', { name: 'Change the picture' })).toHaveTextContent('🦉')
})

it('derives a letter avatar from the name, or an emoji if the name starts with no letter', () => {
  expect(letterAvatar('Scribe')).toEqual(letterAvatar('Scribe'))
  expect(letterAvatar('王佳玲')).toMatchObject({ kind: 'letter', letter: '佳' })
  expect(letterAvatar('').kind).toBe('emoji')
  expect(letterAvatar('!?').kind).toBe('emoji')
})
