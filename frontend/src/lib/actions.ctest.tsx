import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { type ActionId, findActionHandler, useActions, useShortcuts } from './actions'
import { SINGLE_KEYS_KEY } from './keys'
import { setStorageOwner, writeStored } from './storage'

const run = vi.fn<(id: ActionId) => unknown>()

function Screen({ ids, isPossible = true }: { ids: readonly ActionId[]; isPossible?: boolean }) {
  useShortcuts()
  useActions(() => Object.fromEntries(ids.map(id => [id, isPossible ? () => run(id) : null])))
  return <input aria-label="text" />
}

beforeEach(() => setStorageOwner('alice'))
afterEach(() => {
  run.mockReset()
  localStorage.clear()
  setStorageOwner(null)
})

const listRun = () => run.mock.calls.map(([id]) => id)

it('runs actions by their keys, including sequences with G', async () => {
  await render(<Screen ids={['palette.open', 'suggestions.open', 'chat.nextUnread', 'keys.open']} />)
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.keyboard('gs')
  await userEvent.keyboard('{Alt>}{Shift>}{ArrowDown}{/Shift}{/Alt}')
  await userEvent.keyboard('?')
  expect(listRun()).toEqual(['palette.open', 'suggestions.open', 'chat.nextUnread', 'keys.open'])
})

it('ignores single letters in fields and dialogs, and when they are turned off', async () => {
  const screen = await render(<Screen ids={['message.reply', 'palette.open']} />)
  await screen.getByLabelText('text').click()
  await userEvent.keyboard('r{Control>}k{/Control}')
  expect(listRun()).toEqual(['palette.open'])
  await expect.element(screen.getByLabelText('text')).toHaveValue('r')
  ;(document.activeElement as HTMLElement).blur()
  writeStored(SINGLE_KEYS_KEY, false)
  await userEvent.keyboard('r')
  expect(listRun()).toEqual(['palette.open'])
  writeStored(SINGLE_KEYS_KEY, true)
  await userEvent.keyboard('r')
  expect(listRun()).toEqual(['palette.open', 'message.reply'])
  await render(<div role="dialog" aria-label="Dialog" />)
  await userEvent.keyboard('r')
  expect(listRun()).toHaveLength(2)
})

it('runs the action of the newest component that offers it, and leaves other keys to the browser', async () => {
  await render(
    <>
      <Screen ids={['suggestion.next']} />
      <Screen ids={['message.next']} isPossible={false} />
    </>,
  )
  expect(findActionHandler('message.next')).toBeNull()
  run.mockReturnValue(false)
  const seen: boolean[] = []
  const look = (event: Event) => seen.push(event.defaultPrevented)
  document.addEventListener('keydown', event => setTimeout(look, 0, event), { once: true })
  await userEvent.keyboard('j')
  await vi.waitFor(() => expect(seen).toEqual([false]))
  expect(listRun()).toContain('suggestion.next')
})
