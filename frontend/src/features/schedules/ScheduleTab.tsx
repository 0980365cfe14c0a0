import { CirclePause, Ellipsis, Play, Plus } from 'lucide-react'
import { useState } from 'react'
import {
  type AgentRow,
  changeSchedule,
  deleteSchedule,
  runScheduleNow,
  type ScheduleChange,
  type ScheduleRow,
  useScheduleAction,
  useSchedules,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { type Texts, useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { formatDateTime, getOwnTimeZone, getWeekdayName } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { Menu, MenuItem } from '@/ui/Menu'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { describeCron } from './cronWords'
import { ScheduleDialog } from './ScheduleDialog'
import styles from './Schedules.module.css'

const showError = (error: Error) => showToast(getErrorText(error))

interface ScheduleTabProps {
  agent: AgentRow
  workspaceId: string
  /** Whether the reader is an editor. */
  mayAdd: boolean
}

/** The schedules of an agent in the chats of the reader. Editors change those of the chats in which they are. */
export function ScheduleTab({ agent, workspaceId, mayAdd }: ScheduleTabProps) {
  const { t } = useTexts()
  const { id } = agent.actor
  const query = useSchedules(id)
  const [edited, setEdited] = useState<ScheduleRow | 'new' | null>(null)
  return (
    <div className={cx(layout.page, layout.pad)}>
      <section className={cx(blocks.sec, styles.schedules)}>
        <h2 className={blocks.h}>
          {t('schedule.title')}
          {mayAdd ? (
            <span className="end">
              <Button size="xs" onClick={() => setEdited('new')}>
                <Plus className="i s" aria-hidden />
                {t('schedule.add')}
              </Button>
            </span>
          ) : null}
        </h2>
        <div className={blocks.b}>
          {query.data === undefined ? (
            <Loading query={query} lines={3} />
          ) : (
            query.data.map(row => <Schedule key={row.id} row={row} onEdit={() => setEdited(row)} />)
          )}
          {query.data?.length === 0 ? <p className="muted">{t('schedule.none')}</p> : null}
        </div>
      </section>
      {edited ? (
        <ScheduleDialog
          agentId={id}
          workspaceId={workspaceId}
          row={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
        />
      ) : null}
    </div>
  )
}

function Schedule({ row, onEdit }: { row: ScheduleRow; onEdit(): void }) {
  const texts = useTexts()
  const { t } = texts
  const [isDeleting, setDeleting] = useState(false)
  const change = useScheduleAction((fields: Omit<ScheduleChange, 'revision'>) =>
    changeSchedule(row.id, { ...fields, revision: row.revision }),
  )
  const remove = useScheduleAction(() => deleteSchedule(row.id))
  const run = useScheduleAction(() => runScheduleNow(row.id, newId()))
  return (
    <article className={styles.item} aria-label={row.name}>
      <div className="row">
        <Switch
          label={row.name}
          on={row.is_enabled}
          disabled={!row.can_change}
          onChange={isEnabled => change.mutate({ is_enabled: isEnabled }, { onError: showError })}
        />
        <b className="grow cut">{row.name}</b>
        <span className="mono xs faint">{row.expression}</span>
        {row.can_change ? (
          <Menu
            align="end"
            trigger={
              <IconButton small label={t('more')}>
                <Ellipsis className="i" />
              </IconButton>
            }
          >
            <MenuItem
              onSelect={() =>
                run.mutate(undefined, { onError: showError, onSuccess: () => showToast(t('schedule.started')) })
              }
            >
              <Play className="i s" aria-hidden />
              {t('schedule.runNow')}
            </MenuItem>
            <MenuItem onSelect={onEdit}>{t('edit')}</MenuItem>
            <MenuItem bad onSelect={() => setDeleting(true)}>
              {t('schedule.delete')}
            </MenuItem>
          </Menu>
        ) : null}
      </div>
      <p className="sm muted">{[getCronText(row.expression, texts), row.chat_title].filter(Boolean).join(' · ')}</p>
      {row.paused_reason ? (
        <p className="row sm">
          <CirclePause className="i s" aria-hidden />
          {t(`schedule.paused.${row.paused_reason}`, { owner: row.owner_name })}
          {row.can_change ? (
            <button
              type="button"
              className="link"
              onClick={() => change.mutate({ is_enabled: true }, { onError: showError })}
            >
              {t(row.paused_reason === 'owner_left' ? 'schedule.takeOver' : 'schedule.continue')}
            </button>
          ) : null}
        </p>
      ) : null}
      <NextTimes times={row.next_times ?? []} timeZone={row.time_zone} />
      <p className="xs faint">
        {[row.time_zone, t('schedule.budgetOf', { owner: row.owner_name }), getLastText(row, t)]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setDeleting}
        title={t('schedule.delete')}
        description={t('schedule.deleteHint', { name: row.name })}
        action={t('schedule.delete')}
        busy={remove.isPending ? t('saving') : null}
        onConfirm={() => remove.mutate(undefined, { onError: showError, onSettled: () => setDeleting(false) })}
      />
    </article>
  )
}

/** The next scheduled times, in the time zone of the reader. A text says so if the schedule has another time zone. */
export function NextTimes({ times, timeZone }: { times: readonly string[]; timeZone: string }) {
  const { t } = useTexts()
  if (times.length === 0) return null
  return (
    <p className={styles.times}>
      <span className="xs faint">{t(timeZone === getOwnTimeZone() ? 'schedule.next' : 'schedule.nextHere')}</span>
      {times.map(time => (
        <time key={time} dateTime={time} className="sm">
          {formatDateTime(time)}
        </time>
      ))}
    </p>
  )
}

/** Returns the words of an expression; an empty text if there are none: its next times are shown in any case. */
export function getCronText(expression: string, { t }: Texts): string {
  const words = describeCron(expression)
  if (words === null) return ''
  switch (words.key) {
    case 'cron.minutes':
      return t(words.key, { minutes: words.minutes })
    case 'cron.hourly':
      return t(words.key, { minute: words.minute })
    case 'cron.hours':
      return t(words.key, { hours: words.hours, minute: words.minute })
    case 'cron.weekly':
      return t(words.key, { days: formatList(words.days.map(getWeekdayName)), time: words.time })
    case 'cron.monthly':
      return t(words.key, { day: words.day, time: words.time })
    default:
      return t(words.key, { time: words.time })
  }
}

function getLastText({ last }: ScheduleRow, t: Texts['t']): string {
  if (!last) return ''
  const at = formatDateTime(last.due_at)
  if (last.state === 'missed') return t('schedule.lastMissed', { at })
  return last.missed ? t('schedule.lastMadeUp', { at, count: last.missed }) : t('schedule.last', { at })
}
