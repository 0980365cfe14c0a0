import axe from 'axe-core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import type { BudgetRefusal, BudgetRow } from '@/api'
import { buildChatContext } from '@/testing/chatContext'
import { answerRequests, newQueryClient, page, withQueries } from '@/testing/restServer'
import { BudgetStop } from './BudgetStop'
import { ChatContext, type ChatContextValue } from './ChatContext'

const members = [
  { role: 'editor', actor: { id: 'alice', name: 'Alice' } },
  { role: 'suggester', actor: { id: 'bob', name: 'Bob' } },
  { role: 'editor', actor: { id: 'carol', name: 'Carol' } },
]

const refusal: BudgetRefusal = {
  budget_id: 'b',
  scope: 'workspace',
  period: 'month',
  subject_id: 'w',
  subject_name: '',
  limit_micro: 10_000_000,
  spent_micro: 10_000_000,
  needed_micro: 20_000,
  ends_at: '2100-12-01T00:00:00Z',
  time_zone: 'UTC',
}
const row = {
  id: 'b',
  scope: 'workspace',
  period: 'month',
  subject_id: null,
  subject_name: '',
  limit_micro: 10_000_000,
  spent_micro: 10_000_000,
  reserved_micro: 0,
  limit_tokens: null,
  spent_tokens: 0,
  reserved_tokens: 0,
  refuses_unpriced: true,
  ends_at: refusal.ends_at ?? null,
  by_operator: false,
  revision: 1,
} satisfies BudgetRow

const context = buildChatContext()

const retry = vi.fn(async () => undefined)
const runEnd = { kind: 'failed', code: 'budget_used_up', by: null, note: '', payerName: '', budget: refusal } as const

/** The budgets of the server; null: it does not answer yet. */
let budgets: BudgetRow[] | null
let client = newQueryClient()

const show = (change: Partial<BudgetRefusal> = {}, chat: Partial<ChatContextValue> = {}, canRetry = true) =>
  render(
    withQueries(
      <ChatContext value={{ ...context, ...chat }}>
        <BudgetStop
          status={{ status: 'failed', runEnd, retry }}
          refusal={{ ...refusal, ...change }}
          canRetry={canRetry}
        />
      </ChatContext>,
      client,
    ),
  )

beforeEach(() => {
  retry.mockClear()
  budgets = [row]
  client = newQueryClient()
  answerRequests(async ({ path }) => {
    if (path.endsWith('/members')) return [200, page(members)]
    return budgets ? [200, { results: budgets }] : new Promise(() => undefined)
  })
})
afterEach(() => vi.restoreAllMocks())

it('leads an editor to the budgets, and blocks the retry with a reason until the budget is raised', async () => {
  const onGo = vi.fn()
  const screen = await show({}, { onGo })
  await expect.element(screen.getByText("Stopped by this month's budget.")).toBeVisible()
  await expect.element(screen.getByText('You or another editor can raise it.')).toBeVisible()
  const button = screen.getByRole('button', { name: 'Retry' })
  await expect.element(button).toHaveAttribute('aria-disabled', 'true')
  await expect
    .element(button)
    .toHaveAttribute('aria-description', expect.stringContaining('Too little is left of the budget.'))
  await button.click({ force: true })
  expect(retry).not.toHaveBeenCalled()
  expect((await axe.run(screen.container, { rules: { region: { enabled: false } } })).violations).toEqual([])
  await screen.getByRole('link', { name: 'Raise budget…' }).click()
  expect(onGo).toHaveBeenCalledExactlyOnceWith('/w/tours/settings?section=budgets')

  budgets = [{ ...row, limit_micro: 11_000_000, revision: 2 }]
  await client.invalidateQueries()
  await expect.element(screen.getByText('There is enough left now to retry.')).toBeVisible()
  await expect.element(screen.getByRole('link')).not.toBeInTheDocument()
  await button.click()
  expect(retry).toHaveBeenCalledOnce()
})

it('says what a call could cost and what is left, in the unit of the budget', async () => {
  const dollars = await show({
    period: 'day',
    needed_micro: 987_000,
    left_micro: 300_000,
    limit_micro: 300_000,
    spent_micro: 0,
  })
  await expect.element(dollars.getByText(/could cost up to \$0\.987; left today: \$0\.300 of \$0\.300/)).toBeVisible()
  await dollars.unmount()
  const amounts = { needed_tokens: 9_200, left_tokens: 1_000, limit_tokens: 50_000, spent_tokens: 49_000 }
  const tokens = await show({ period: 'run', needed_micro: null, limit_micro: null, spent_micro: null, ...amounts })
  await expect
    .element(tokens.getByText(/up to 9,200 tokens; left for this run: 1,000 tokens of 50,000 tokens/))
    .toBeVisible()
})

it('leads an editor to the prices if the price of the model is not known, and never blocks the retry', async () => {
  const unpriced = { unpriced_model: 'm-1', price_set_by: 'editor', needed_micro: null, limit_micro: null } as const
  const screen = await show(unpriced)
  await expect.element(screen.getByText(/No price is known for m-1; an editor can set one\./)).toBeVisible()
  await expect.element(screen.getByRole('link', { name: 'Set price…' })).toBeVisible()
  await screen.getByRole('button', { name: 'Retry' }).click()
  expect(retry).toHaveBeenCalledOnce()
  await screen.unmount()
  const byOperator = await show({ ...unpriced, price_set_by: 'operator' })
  await expect.element(byOperator.getByText(/an operator can set one\./)).toBeVisible()
  await expect.element(byOperator.getByRole('link')).not.toBeInTheDocument()
})

it('names the editors to a suggester, who has no link', async () => {
  const screen = await show({}, { isEditor: false, me: 'bob' })
  await expect.element(screen.getByText('Alice and Carol can raise it.')).toBeVisible()
  await expect.element(screen.getByRole('link')).not.toBeInTheDocument()
})

it('says that only an operator can raise the budget of an operator', async () => {
  budgets = [{ ...row, by_operator: true }]
  const screen = await show()
  await expect.element(screen.getByText('It was set by an operator, who alone can raise it.')).toBeVisible()
  await expect.element(screen.getByRole('link')).not.toBeInTheDocument()
})

it.each([
  ['it has begun again', { ends_at: '2020-01-01T00:00:00Z' }, [row]],
  ['it was deleted', {}, []],
  ['it is that of another person', { scope: 'person', subject_id: 'bob' }, []],
] as const)('allows the retry when %s', async (_why, change, rows) => {
  budgets = [...rows]
  const screen = await show(change)
  await expect.element(screen.getByText('There is enough left now to retry.')).toBeVisible()
  await screen.getByRole('button', { name: 'Retry' }).click()
  expect(retry).toHaveBeenCalledOnce()
})

it('blocks the retry while the budgets are being read', async () => {
  budgets = null
  const screen = await show()
  await expect.element(screen.getByRole('button', { name: 'Retry' })).toHaveAttribute('aria-disabled', 'true')
})

it('offers no retry of an agent that was taken down', async () => {
  const { getByRole, getByText } = await show({ ends_at: '2020-01-01T00:00:00Z' }, {}, false)
  await expect.element(getByRole('status')).toBeVisible()
  expect(getByRole('button', { name: 'Retry' }).elements()).toEqual([])
  expect(getByText('Retry works again').elements()).toEqual([])
})

it('names the person of a budget within the sentence', async () => {
  budgets = [row]
  const screen = await show({ scope: 'person', subject_name: 'Alice' })
  await expect.element(screen.getByText("Stopped by this month's budget (Alice).")).toBeVisible()
})
