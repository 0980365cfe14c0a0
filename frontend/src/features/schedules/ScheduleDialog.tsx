import { type FormEvent, useDeferredValue, useState } from 'react'
import {
  ApiError,
  changeSchedule,
  createSchedule,
  type ScheduleRow,
  useChats,
  useNextTimes,
  useScheduleAction,
} from '@/api'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { type Texts, useTexts } from '@/lib/language'
import { getOwnTimeZone } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Field, SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import styles from './Schedules.module.css'
import { NextTimes } from './ScheduleTab'
import { ScheduleTimes } from './ScheduleTimes'

interface ScheduleDialogProps {
  agentId: string
  workspaceId: string
  /** Null for a new one. */
  row: ScheduleRow | null
  onClose(): void
}

const getInitialFields = (row: ScheduleRow | null) => ({
  name: row?.name ?? '',
  instructions: row?.instructions ?? '',
  expression: row?.expression ?? '0 8 * * 1-5',
  time_zone: row?.time_zone ?? getOwnTimeZone(),
})

/** The fields of a schedule, with the words of its expression and its next times while it is written. */
export function ScheduleDialog({ agentId, workspaceId, row, onClose }: ScheduleDialogProps) {
  const { t } = useTexts()
  const [id] = useState(newId)
  const chats = (useChats(workspaceId).data ?? []).filter(found =>
    found.participants.some(actor => actor.id === agentId),
  )
  const [chatId, setChatId] = useState(row?.chat_id ?? '')
  const [fields, setFields] = useState(() => getInitialFields(row))
  const setField = (name: keyof typeof fields) => (value: string) => setFields(before => ({ ...before, [name]: value }))
  const expression = useDeferredValue(fields.expression.trim())
  const timeZone = useDeferredValue(fields.time_zone.trim())
  const preview = useNextTimes(expression, timeZone)
  const chosenChat = chatId || (chats[0]?.chat.id ?? '')
  const save = useScheduleAction(() =>
    row
      ? changeSchedule(row.id, { ...fields, revision: row.revision })
      : createSchedule(chosenChat, agentId, { ...fields, id }),
  )
  const isComplete = Boolean(fields.name.trim() && fields.instructions.trim() && chosenChat)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isComplete) save.mutate(undefined, { onSuccess: onClose, onError: error => showToast(getErrorText(error)) })
  }
  const problems = describeProblems(preview.error, t)
  return (
    <Dialog open onOpenChange={onClose} title={t(row ? 'schedule.edit' : 'schedule.new')}>
      <form className={styles.fields} onSubmit={submit}>
        <TextField label={t('schedule.name')} value={fields.name} maxLength={80} required onChange={setField('name')} />
        <Field label={t('schedule.instructions')} hint={t('schedule.instructionsHint')}>
          {attributes => (
            <textarea
              {...attributes}
              className={fieldStyles.input}
              rows={4}
              maxLength={8000}
              value={fields.instructions}
              onChange={event => setField('instructions')(event.target.value)}
            />
          )}
        </Field>
        {row ? null : (
          <SelectField
            label={t('schedule.chat')}
            value={chosenChat}
            options={chats.map(({ chat }) => ({ value: chat.id, label: chat.title }))}
            onChange={setChatId}
          />
        )}
        <div className={styles.pair}>
          <ScheduleTimes expression={fields.expression} error={problems.expression} onChange={setField('expression')} />
          <TextField
            label={t('schedule.timeZone')}
            error={problems.timeZone}
            value={fields.time_zone}
            required
            onChange={setField('time_zone')}
          />
        </div>
        <NextTimes times={preview.data ?? []} timeZone={timeZone} />
        {problems.other ? <p className="faint sm">{problems.other}</p> : null}
        <p className="faint sm">{t('schedule.ownerHint')}</p>
        <div className="row endrow">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            tone="ink"
            type="submit"
            blocked={!isComplete || Boolean(problems.expression ?? problems.timeZone)}
            busy={save.isPending ? t('saving') : null}
          >
            {t(row ? 'saveChanges' : 'schedule.saveNew')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const expressionProblems = ['fields', 'syntax', 'never', 'too_often'] as const

interface Problems {
  expression: string | null
  timeZone: string | null
  /** Why the next times cannot be read, if neither the expression nor the time zone is wrong. */
  other: string | null
}

function describeProblems(error: Error | null, t: Texts['t']): Problems {
  const name = error instanceof ApiError ? error.data.problem : null
  const found = expressionProblems.find(each => each === name)
  const expression = found ? t(`schedule.problem.${found}`) : null
  const timeZone = name === 'time_zone' ? t('schedule.problem.time_zone') : null
  return { expression, timeZone, other: error && !(expression ?? timeZone) ? getErrorText(error) : null }
}
