import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userEvent } from 'vitest/browser'
import { render } from 'vitest-browser-react'
import type { ModelOffer, ModelProvider, ModelRow } from '@/api'
import { answerByPath, listChanges, withQueries } from '@/testing/restServer'
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
    withQueries(<ModelForm workspaceId="w" current={current} action="Save changes" onDone={onDone} />),
  )
  return { screen, onDone, save: screen.getByRole('button', { name: 'Save changes' }) }
}

let answers: Record<string, unknown>
let requests: ReturnType<typeof answerByPath>

beforeEach(() => {
  answers = {
    'GET /model-providers': { results: providers },
    'GET /model-offers': { results: offers },
    'PUT /workspaces/w/model': stored,
  }
  requests = answerByPath(answers)
})
afterEach(() => vi.restoreAllMocks())

it('starts with an offer without a key and saves it unchanged', async () => {
  const { screen, save, onDone } = await openForm()
  await expect.element(screen.getByRole('radio').nth(0)).toBeChecked()
  await save.click()
  await vi.waitFor(() => expect(onDone.mock.calls[0]?.[0]).toEqual(stored))
  expect(listChanges(requests)).toEqual([
    ['PUT /workspaces/w/model', { provider: 'demo', default_model: 'demo', revision: 0 }],
  ])
})

it('saves a provider only with a key, which is trimmed', async () => {
  const { screen, save, onDone } = await openForm()
  await screen.getByText('OpenAI', { exact: true }).click()
  await expect.element(save).toHaveAttribute('aria-disabled', 'true')
  await userEvent.fill(screen.getByLabelText('Key', { exact: true }).element(), ' sk-1 ')
  await expect.element(save).not.toHaveAttribute('aria-disabled')
  await save.click()
  await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce())
  expect(listChanges(requests)).toEqual([
    ['PUT /workspaces/w/model', { provider: 'openai', default_model: 'gpt-5', key: 'sk-1', revision: 0 }],
  ])
})

it('requires no key if one is stored, and sends none', async () => {
  const { screen, save, onDone } = await openForm(stored)
  await expect.element(screen.getByLabelText('Key', { exact: true })).toHaveValue('')
  await save.click()
  await vi.waitFor(() => expect(onDone).toHaveBeenCalledOnce())
  expect(listChanges(requests)).toEqual([
    ['PUT /workspaces/w/model', { provider: 'openai', default_model: 'gpt-5', revision: 4 }],
  ])
})

it('saves how much the model reads, and tests it without that', async () => {
  const { screen, save } = await openForm({ ...stored, context_size: 4096 })
  const size = screen.getByRole('spinbutton', { name: 'Context size' })
  await expect.element(size).toHaveValue(4096)
  await size.fill('2048')
  await save.click()
  const body = { provider: 'openai', default_model: 'gpt-5', context_size: 2048, revision: 4 }
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([['PUT /workspaces/w/model', body]]))
})

it('shows the result of a test of the model without saving', async () => {
  const { screen } = await openForm(stored)
  const button = screen.getByRole('button', { name: 'Test connection' })
  const answered = { ok: true, seconds: 1.5, models: [], context_sizes: { 'gpt-5': 2048 }, code: '', message: '' }
  const done = { id: 't', state: 'done', ...answered }
  answers['POST /workspaces/w/model/test'] = done
  await button.click()
  await expect.element(screen.getByRole('status')).toHaveTextContent(/1\.5.*The server says 2,048 tokens\./)
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('Failed to fetch'))
  await button.click()
  await expect.element(screen.getByRole('status')).toHaveTextContent(/No connection/)
  expect(listChanges(requests).map(([request]) => request)).toEqual(['POST /workspaces/w/model/test'])
})
