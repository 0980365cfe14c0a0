import { useState } from 'react'
import { useTexts } from '@/lib/language'
import { getWeekdayName } from '@/lib/time'
import { SelectField, TextField } from '@/ui/Field'
import { buildCron, type ChosenTimes, type Frequency, findChoice, frequencies } from './cronWords'
import { getCronText } from './ScheduleTab'

interface ScheduleTimesProps {
  expression: string
  error: string | null
  onChange(expression: string): void
}

/** Shown for an expression that can only be written, when a choice replaces it. */
const defaultChoice: ChosenTimes = { frequency: 'workingDays', time: '08:00', weekday: 1, day: 1 }
/** Monday first. */
const weekdays = [1, 2, 3, 4, 5, 6, 0]
const days = Array.from({ length: 31 }, (_, at) => at + 1)
/** Every month has this day. */
const LAST_COMMON_DAY = 28

const toOptions = (numbers: readonly number[], getLabel: (number: number) => string) =>
  numbers.map(number => ({ value: String(number), label: getLabel(number) }))

/** The fields of when a schedule fires: how often and at what time, or an expression of cron. */
export function ScheduleTimes({ expression, error, onChange }: ScheduleTimesProps) {
  const texts = useTexts()
  const { t } = texts
  const [isWritten, setWritten] = useState(() => findChoice(expression) === null)
  const choice = findChoice(expression) ?? defaultChoice
  const choose = (change: Partial<ChosenTimes>) => onChange(buildCron({ ...choice, ...change }))
  const chooseFrequency = (frequency: Frequency | 'written') => {
    setWritten(frequency === 'written')
    if (frequency !== 'written') choose({ frequency })
  }
  return (
    <>
      <SelectField<Frequency | 'written'>
        label={t('schedule.frequency')}
        value={isWritten ? 'written' : choice.frequency}
        options={[...frequencies, 'written' as const].map(value => ({ value, label: t(`schedule.${value}`) }))}
        onChange={chooseFrequency}
      />
      {isWritten ? (
        <TextField
          label={t('schedule.expression')}
          hint={getCronText(expression, texts) || t('schedule.expressionHint')}
          error={error}
          value={expression}
          required
          onChange={onChange}
        />
      ) : (
        <>
          {choice.frequency === 'weekly' ? (
            <SelectField
              label={t('schedule.weekday')}
              value={String(choice.weekday)}
              options={toOptions(weekdays, getWeekdayName)}
              onChange={weekday => choose({ weekday: Number(weekday) })}
            />
          ) : null}
          {choice.frequency === 'monthly' ? (
            <SelectField
              label={t('schedule.day')}
              hint={choice.day > LAST_COMMON_DAY ? t('schedule.dayHint') : undefined}
              value={String(choice.day)}
              options={toOptions(days, String)}
              onChange={day => choose({ day: Number(day) })}
            />
          ) : null}
          <TextField
            label={t('schedule.time')}
            type="time"
            error={error}
            value={choice.time}
            required
            // A time that is not complete is empty.
            onChange={time => time && choose({ time })}
          />
        </>
      )}
    </>
  )
}
