import { afterEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { answerRequests, listChanges, withQueries } from '@/testing/restServer'
import { AccountForm } from './AccountForm'

/** Answers the form with `status`; null: after `respond` is called. Reading the account succeeds. */
function startServer(status: 200 | 400 | null) {
  let respond = () => undefined as undefined
  const responded = new Promise<void>(resolve => {
    respond = () => void resolve()
  })
  const requests = answerRequests(async ({ method }) => {
    if (method === 'GET') return [200, {}]
    if (status === null) await responded
    return status === 400 ? [400, { errors: [{ code: 'invalid', message: 'Wrong.' }] }] : [200, {}]
  })
  return { requests, respond: () => respond() }
}

async function openForm(mode: 'sign-in' | 'sign-up') {
  const onDone = vi.fn()
  const screen = await render(
    withQueries(<AccountForm mode={mode} email="" other={() => 'The other form'} onDone={onDone} />),
  )
  return { screen, onDone }
}

afterEach(() => vi.restoreAllMocks())

it('marks missing or malformed fields and sends nothing', async () => {
  const { requests } = startServer(200)
  const { screen } = await openForm('sign-up')
  await screen.getByRole('button', { name: 'Sign up' }).click()
  const name = screen.getByLabelText('Your name')
  await expect.element(name).toHaveFocus()
  await expect.element(name).toHaveAttribute('aria-invalid', 'true')
  await name.fill('Alice')
  await expect.element(name).not.toHaveAttribute('aria-invalid')
  await screen.getByLabelText('Email').fill('alice')
  await screen.getByLabelText('Password').fill('short')
  await userEvent.keyboard('{Enter}')
  const email = screen.getByLabelText('Email')
  await expect.element(email).toHaveFocus()
  await expect.element(email).toHaveAccessibleDescription(/email address/i)
  await expect.element(screen.getByLabelText('Password')).toHaveAttribute('aria-invalid', 'true')
  expect(listChanges(requests)).toEqual([])
})

it('signs up once on a double submit and continues after reading the account', async () => {
  const { requests, respond } = startServer(null)
  const { screen, onDone } = await openForm('sign-up')
  await screen.getByLabelText('Your name').fill('Alice')
  await screen.getByLabelText('Email').fill('alice@example.org')
  await screen.getByLabelText('Password').fill('a long enough password')
  await userEvent.keyboard('{Enter}{Enter}')
  await expect
    .element(screen.getByRole('button', { name: /Creating your account/ }))
    .toHaveAttribute('aria-busy', 'true')
  respond()
  await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce())
  expect(listChanges(requests)).toEqual([
    [
      'POST /_allauth/browser/v1/auth/signup',
      { name: 'Alice', email: 'alice@example.org', password: 'a long enough password', language: 'en' },
    ],
  ])
  expect(requests.at(-1)?.path).toBe('/me')
})

it('shows an error without a field above the button and keeps what was typed', async () => {
  startServer(400)
  const { screen, onDone } = await openForm('sign-in')
  await screen.getByLabelText('Email').fill('alice@example.org')
  await screen.getByLabelText('Password').fill('wrong')
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(screen.getByLabelText('Email')).toHaveValue('alice@example.org')
  await expect.element(screen.getByLabelText('Password')).toHaveValue('wrong')
  expect(onDone).not.toHaveBeenCalled()
})
