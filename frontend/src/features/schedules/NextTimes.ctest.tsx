import { expect, it } from 'vitest'
import { render } from 'vitest-browser-react'
import { getOwnTimeZone } from '@/lib/time'
import { NextTimes } from './ScheduleTab'

const times = ['2026-11-26T09:00:00Z']

it('says that the times are those of the reader if the schedule has another time zone', async () => {
  const screen = await render(<NextTimes times={times} timeZone={getOwnTimeZone()} />)
  await expect.element(screen.getByText('Next', { exact: true })).toBeVisible()
  await screen.rerender(<NextTimes times={times} timeZone="Pacific/Kiritimati" />)
  await expect.element(screen.getByText('Next, in your time zone')).toBeVisible()
})
