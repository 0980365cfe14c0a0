import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { setStorageOwner } from '@/lib/storage'
import { switchOff } from '../browserState'
import { BrowserNotifications } from './BrowserNotifications'

/** Replaces the permission of the browser. `answer`: what the person answers when it asks them. */
function setPermission(state: PermissionState, answer: PermissionState = state) {
  const status = { state, addEventListener: () => undefined }
  const requestPermission = async () => {
    status.state = answer
    return answer === 'prompt' ? 'default' : answer
  }
  vi.spyOn(navigator.permissions, 'query').mockResolvedValue(status as unknown as PermissionStatus)
  vi.stubGlobal('Notification', { requestPermission })
}

/** Opens the settings as `me`. */
async function open() {
  setStorageOwner('me')
  const screen = await render(<BrowserNotifications />)
  return { screen, choice: screen.getByRole('switch', { name: 'Show notifications in this browser' }) }
}

afterEach(() => {
  switchOff()
  setStorageOwner(null)
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it('can be switched on and off when the browser allows it', async () => {
  setPermission('prompt', 'granted')
  const { screen, choice } = await open()
  await expect.element(choice).not.toBeChecked()
  await choice.click()
  await expect.element(choice).toBeChecked()
  await expect.element(screen.getByRole('button', { name: 'Show one now' })).toBeVisible()
  await choice.click()
  await expect.element(choice).not.toBeChecked()
})

it('says what to do when the question of the browser was closed', async () => {
  setPermission('prompt')
  const { screen, choice } = await open()
  await choice.click()
  await expect.element(screen.getByRole('alert')).toHaveTextContent('choose to allow them')
  await expect.element(choice).not.toBeChecked()
})

it('says where they are allowed when the browser blocks them', async () => {
  setPermission('denied')
  const { screen, choice } = await open()
  await expect.element(choice).toBeDisabled()
  await expect.element(screen.getByRole('alert')).toHaveTextContent('This browser blocks notifications of this site.')
})
