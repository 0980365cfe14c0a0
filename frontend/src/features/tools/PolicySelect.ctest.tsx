import { afterEach, expect, it, vi } from 'vitest'
import { render } from 'vitest-browser-react'
import { type ToolPolicy, useOfferedTools } from '@/api'
import { answerRequests, listChanges, page, withQueries } from '@/testing/restServer'
import { Toasts } from '@/ui/Toasts'
import { PolicySelect } from './PolicySelect'

const PATH = '/workspaces/w/tools/hold_seats/policy'

function Tools() {
  const [tool] = useOfferedTools('w').data ?? []
  return (
    <>
      {tool ? <PolicySelect tool={tool} workspaceId="w" mayChange /> : null}
      <Toasts />
    </>
  )
}

/** Shows the policy of a tool, as a server stores it that answers changes only when `answer` is called, with a status. */
async function renderPolicy() {
  let stored: ToolPolicy = 'auto'
  const waiting: ((status: number) => void)[] = []
  const requests = answerRequests(async ({ method, body }) => {
    if (method === 'GET') return [200, page([{ name: 'hold_seats', policy: stored }])]
    const status = await new Promise<number>(resolve => waiting.push(resolve))
    if (status !== 200) return [status, { error: { code: 'forbidden', message: 'No.' } }]
    stored = (body as { policy: ToolPolicy }).policy
    return [200, body]
  })
  const screen = await render(withQueries(<Tools />))
  const select = screen.getByRole('combobox')
  await expect.element(select).toHaveValue('auto')
  const answer = async (status: number) => {
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting.pop()?.(status)
  }
  return { screen, select, requests, answer }
}

afterEach(() => vi.restoreAllMocks())

it('shows the policy that was chosen last, and sends each choice after the one before it', async () => {
  const { select, requests, answer } = await renderPolicy()
  await select.selectOptions('off')
  await select.selectOptions('ask')
  await expect.element(select).toHaveValue('ask')
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([[`PUT ${PATH}`, { policy: 'off' }]]))
  await answer(200)
  await vi.waitFor(() => expect(listChanges(requests).at(-1)).toEqual([`PUT ${PATH}`, { policy: 'ask' }]))
  await expect.element(select).toHaveValue('ask')
  await answer(200)
  await vi.waitFor(() => expect(requests.map(({ method }) => method)).toEqual(['GET', 'PUT', 'GET', 'PUT', 'GET']))
  await expect.element(select).toHaveValue('ask')
})

it('shows the former policy again, and why, if a choice is refused', async () => {
  const { screen, select, answer } = await renderPolicy()
  await select.selectOptions('off')
  await expect.element(select).toHaveValue('off')
  await answer(403)
  await expect.element(select).toHaveValue('auto')
  await expect.element(screen.getByText("You can't do this here. An editor can.", { exact: true })).toBeVisible()
})
