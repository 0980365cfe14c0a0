import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import { ApiError, type ModelOffer, type ModelProvider, type ModelRow } from '@/api'
import { ModelForm } from './ModelForm'

const field = (name: string, change: object = {}) => ({
  name,
  label: name === 'key' ? 'api_key' : name,
  default: '',
  example: '',
  is_required: true,
  ...change,
})

const providers = [
  { name: 'demo', label: 'Demo', usual_model: 'demo', model_label: 'model', lists_models: false, fields: [] },
  {
    name: 'openai',
    label: 'OpenAI',
    usual_model: 'gpt-5',
    model_label: 'model',
    lists_models: true,
    fields: [field('key')],
  },
  {
    name: 'openai_compatible',
    label: 'Other',
    usual_model: '',
    model_label: 'model',
    lists_models: true,
    fields: [field('api_base'), field('key', { is_required: false })],
  },
] as unknown as ModelProvider[]
const offers = [{ provider: 'demo', label: 'Demo', api_base: null, models: ['demo'] }] as unknown as ModelOffer[]

const api = vi.hoisted(() => ({ choose: vi.fn(), testModel: vi.fn() }))
vi.mock('@/api', async original => ({
  ...(await original<object>()),
  useModelProviders: () => ({ data: providers }),
  useModelOffers: () => ({ data: offers }),
  testModel: api.testModel,
  useChooseModel: () => ({
    isPending: false,
    error: null,
    mutate: (choice: unknown, { onSuccess }: { onSuccess(row: unknown): void }) => onSuccess(api.choose(choice)),
  }),
}))

const stored = {
  provider: 'openai',
  default_model: 'gpt-5',
  api_base: null,
  options: {},
  has_key: true,
  key_last4: '1234',
  revision: 4,
} as unknown as ModelRow

async function openForm(current?: ModelRow) {
  const onDone = vi.fn()
  const screen = await render(
    <QueryClientProvider client={new QueryClient()}>
      <ModelForm workspaceId="w" current={current} action="Save changes" onDone={onDone} />
    </QueryClientProvider>,
  )
  return { screen, onDone, save: screen.getByRole('button', { name: 'Save changes' }) }
}

beforeEach(() => {
  api.choose.mockReset().mockReturnValue(stored)
  api.testModel.mockReset()
})

it('starts with an offer without a key and saves it unchanged', async () => {
  const { screen, save, onDone } = await openForm()
  await expect.element(screen.getByRole('radio').nth(0)).toBeChecked()
  await save.click()
  expect(api.choose.mock.calls).toEqual([[{ provider: 'demo', default_model: 'demo', revision: 0 }]])
  expect(onDone).toHaveBeenCalledWith(stored)
})

it('saves a provider only with a key, which is trimmed', async () => {
  const { screen, save } = await openForm()
  await screen.getByText('OpenAI', { exact: true }).click()
  await expect.element(save).toHaveAttribute('aria-disabled', 'true')
  await userEvent.fill(screen.getByLabelText('Key', { exact: true }).element(), ' sk-1 ')
  await expect.element(save).not.toHaveAttribute('aria-disabled')
  await save.click()
  expect(api.choose.mock.calls).toEqual([[{ provider: 'openai', default_model: 'gpt-5', key: 'sk-1', revision: 0 }]])
})

it('requires no key if one is stored, and sends none', async () => {
  const { screen, save } = await openForm(stored)
  await expect.element(screen.getByLabelText('Key', { exact: true })).toHaveValue('')
  await save.click()
  expect(api.choose.mock.calls).toEqual([[{ provider: 'openai', default_model: 'gpt-5', revision: 4 }]])
})

it('shows the result of a test of the model without saving', async () => {
  const { screen } = await openForm(stored)
  const button = screen.getByRole('button', { name: 'Test connection' })
  api.testModel.mockResolvedValueOnce({ ok: true, seconds: 1.5, models: [], code: null, message: '' })
  await button.click()
  await expect.element(screen.getByRole('status')).toHaveTextContent(/1\.5/)
  api.testModel.mockRejectedValueOnce(new ApiError(0, 'unreachable', ''))
  await button.click()
  await expect.element(screen.getByRole('status')).toHaveTextContent(/No connection/)
  expect(api.choose).not.toHaveBeenCalled()
})
