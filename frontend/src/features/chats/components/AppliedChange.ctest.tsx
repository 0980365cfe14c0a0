import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import type { SystemMessageRow } from '@/api'
import { withQueries } from '@/testing/restServer'
import { AppliedChange } from './AppliedChange'
import { FoldingChoices } from './foldingChoices'

const row = {
  id: 'applied',
  created_at: '2026-05-01T10:00:00Z',
  payload: { spec_id: 'after', before_id: 'before', lines_changed: 1 },
} as unknown as SystemMessageRow

it('stays open when it leaves the visible part of the log and comes back', async () => {
  const choices = new Map<string, boolean>()
  const shown = withQueries(
    <FoldingChoices value={choices}>
      <AppliedChange row={row} />
    </FoldingChoices>,
  )
  const first = await render(shown)
  await first.getByRole('button', { name: '1 line changed' }).click()
  first.unmount()
  const again = await render(shown)
  await expect.element(again.getByRole('button', { name: '1 line changed' })).toHaveAttribute('aria-expanded', 'true')
})
