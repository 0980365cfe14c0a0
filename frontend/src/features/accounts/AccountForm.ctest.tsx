import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { ApiError } from '@/api'
import { AccountForm } from './AccountForm'

const api = vi.hoisted(() => ({ signIn: vi.fn(), signUp: vi.fn(), readMe: vi.fn() }))
vi.mock('@/api', async original => ({
  ...(await original<object>()),
  signIn: api.signIn,
  signUp: api.signUp,
  meQuery: { queryKey: ['me'], queryFn: api.readMe },
}))

async function openForm(mode: 'sign-in' | 'sign-up') {
  const onDone = vi.fn()
  const screen = await render(
    <QueryClientProvider client={new QueryClient()}>
      <AccountForm mode={mode} email="" other={() => 'The other form'} onDone={onDone} />
    </QueryClientProvider>,
  )
  return { screen, onDone }
}

beforeEach(() => {
  for (const mock of Object.values(api)) mock.mockReset()
  api.readMe.mockResolvedValue({})
})

it('marks missing or malformed fields and sends nothing', async () => {
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
  expect(api.signUp).not.toHaveBeenCalled()
})

it('signs up once on a double submit and continues after reading the account', async () => {
  let respond: (value?: unknown) => void = () => undefined
  api.signUp.mockImplementation(() => new Promise(resolve => (respond = resolve)))
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
  expect(api.signUp.mock.calls).toEqual([
    [{ name: 'Alice', email: 'alice@example.org', password: 'a long enough password', language: 'en' }],
  ])
})

it('shows an error without a field above the button and keeps what was typed', async () => {
  api.signIn.mockRejectedValue(new ApiError(400, 'invalid', 'Wrong.'))
  const { screen, onDone } = await openForm('sign-in')
  await screen.getByLabelText('Email').fill('alice@example.org')
  await screen.getByLabelText('Password').fill('wrong')
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(screen.getByLabelText('Email')).toHaveValue('alice@example.org')
  await expect.element(screen.getByLabelText('Password')).toHaveValue('wrong')
  expect(onDone).not.toHaveBeenCalled()
})
