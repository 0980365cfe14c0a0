import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { ScheduleDialog } from './ScheduleDialog'

const chat = { chat: { id: 'c', title: 'Travel' }, participants: [{ id: 'robin' }] }

/** Opens the dialog for a new schedule whose required fields are filled in. `preview` answers the requests for next times. */
async function open(preview: (body: { expression: string; time_zone: string }) => [number, unknown]) {
  const requests = answerRequests(({ path, body }) => {
    if (path === '/workspaces/w/chats') return [200, page([chat])]
    if (path === '/schedules/preview') return preview(body as { expression: string; time_zone: string })
    return [200, {}]
  })
  const onClose = vi.fn()
  const dialog = <ScheduleDialog agentId="robin" workspaceId="w" row={null} onClose={onClose} />
  const screen = await render(withQueries(dialog))
  await screen.getByLabelText('Name', { exact: true }).fill('Report')
  await screen.getByLabelText('What to do').fill('Write it.')
  await screen.getByLabelText('How often').selectOptions('written')
  const [expression, zone] = [screen.getByLabelText('When (cron)'), screen.getByLabelText('Time zone')]
  return { screen, expression, zone, requests, onClose, save: screen.getByRole('button', { name: 'Save schedule' }) }
}

const next: [number, unknown] = [200, { next_times: ['2026-11-23T08:00:00Z'] }]
const refuse = (problem: string): [number, unknown] => [
  400,
  { error: { code: 'schedule_invalid', message: '', data: { problem } } },
]

afterEach(() => vi.restoreAllMocks())

it('shows a problem at the field that has it', async () => {
  const { screen, expression, zone, save } = await open(body =>
    body.time_zone === 'Asia/Nowhere' ? refuse('time_zone') : body.expression === 'soon' ? refuse('fields') : next,
  )
  await zone.fill('Asia/Nowhere')
  await expect.element(zone).toHaveAttribute('aria-invalid', 'true')
  await expect.element(screen.getByRole('alert')).toHaveTextContent('There is no such time zone.')
  await expect.element(expression).not.toHaveAttribute('aria-invalid')
  await expect.element(save).toHaveAttribute('aria-disabled', 'true')
  await zone.fill('Asia/Taipei')
  await expression.fill('soon')
  await expect.element(expression).toHaveAttribute('aria-invalid', 'true')
  await expect.element(zone).not.toHaveAttribute('aria-invalid')
})

it.each([429, 503])('can be saved if the next times cannot be read (%i)', async status => {
  const { screen, expression, requests, save, onClose } = await open(() => [
    status,
    { error: { code: status === 429 ? 'limit_reached' : 'unavailable', message: '' } },
  ])
  await vi.waitFor(() => expect(requests.some(sent => sent.path === '/schedules/preview')).toBe(true))
  await expression.fill('0 9 * * *')
  await save.click()
  await vi.waitFor(() => expect(onClose).toHaveBeenCalled())
  await expect.element(expression).not.toHaveAttribute('aria-invalid')
  expect(screen.getByRole('alert').elements()).toEqual([])
  expect(listChanges(requests).map(([path]) => path)).toContain('POST /chats/c/agents/robin/schedules')
})

it('shows no times without an expression', async () => {
  const { screen, expression } = await open(() => next)
  const times = screen.getByText('Next', { exact: true })
  await expect.element(times).toBeVisible()
  await expression.fill('')
  await expect.element(times).not.toBeInTheDocument()
})

it('makes the expression of the times that are chosen', async () => {
  const { screen, requests, save, onClose } = await open(() => next)
  const often = screen.getByLabelText('How often')
  await often.selectOptions('monthly')
  await screen.getByLabelText('Day of the month').selectOptions('31')
  await expect.element(screen.getByText('A month without this day is left out.')).toBeVisible()
  await often.selectOptions('weekly')
  await screen.getByLabelText('Day', { exact: true }).selectOptions('5')
  await screen.getByLabelText('Time', { exact: true }).fill('17:30')
  await often.selectOptions('written')
  await expect.element(screen.getByLabelText('When (cron)')).toHaveValue('30 17 * * 5')
  await often.selectOptions('daily')
  await save.click()
  await vi.waitFor(() => expect(onClose).toHaveBeenCalled())
  const saved = listChanges(requests).find(([path]) => path === 'POST /chats/c/agents/robin/schedules')
  expect(saved?.[1]).toMatchObject({ expression: '30 17 * * *' })
})
