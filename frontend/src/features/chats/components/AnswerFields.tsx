import { Braces, Plus, X } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import fieldStyles from '@/ui/Field.module.css'
import { type AnswerShape, type AnswerValue, toJsonShape, type ValueKind, valueKinds } from '../answerShape'
import styles from './Plan.module.css'

interface AnswerFieldsProps {
  /** The number of the task. */
  number: number
  shape: AnswerShape
  /** Says that the fields are wrong, and why. */
  attributes: { 'aria-invalid'?: true; 'aria-describedby'?: string }
  onChange(shape: AnswerShape): void
}

const MAX_SCHEMA = 20_000

/** The values with which a task is to answer: their names and kinds, or their JSON schema. */
export function AnswerFields({ number, shape, attributes, onChange }: AnswerFieldsProps) {
  const { t } = useTexts()
  const { values, json } = shape
  const change = (index: number, part: Partial<AnswerValue>) =>
    onChange({ ...shape, values: values.map((value, at) => (at === index ? { ...value, ...part } : value)) })
  const label = t('plan.answersWith')
  return (
    <fieldset className={styles.answer}>
      <legend className={fieldStyles.label}>
        {label}
        <span className="sr"> {t('plan.task', { n: number })}</span>
      </legend>
      {json === null ? (
        <>
          {values.length === 0 ? <p className="faint xs">{t('plan.answersWithText')}</p> : null}
          {values.map((value, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity, and rows are not reordered
            <div key={index} className={styles.pair}>
              <input
                {...attributes}
                className={fieldStyles.input}
                aria-label={t('plan.answerName', { n: index + 1 })}
                placeholder={t('plan.name')}
                value={value.name}
                maxLength={100}
                onChange={event => change(index, { name: event.target.value })}
              />
              <select
                className={fieldStyles.input}
                aria-label={t('plan.answerKind', { n: index + 1 })}
                value={value.kind}
                onChange={event => change(index, { kind: event.target.value as ValueKind })}
              >
                {valueKinds.map(kind => (
                  <option key={kind} value={kind}>
                    {t(`plan.kind.${kind}`)}
                  </option>
                ))}
              </select>
              <IconButton
                small
                label={t('plan.removeAnswer', { n: index + 1 })}
                onClick={() => onChange({ ...shape, values: values.filter((_, at) => at !== index) })}
              >
                <X className="i s" />
              </IconButton>
            </div>
          ))}
          <div className={styles.starts}>
            <Button
              size="xs"
              tone="flat"
              onClick={() => onChange({ ...shape, values: [...values, { name: '', kind: 'text' }] })}
            >
              <Plus className="i s" aria-hidden />
              {t('plan.addAnswer')}
            </Button>
            <Button size="xs" tone="flat" onClick={() => onChange(toJsonShape(shape))}>
              <Braces className="i s" aria-hidden />
              {t('plan.editSchema')}
            </Button>
          </div>
        </>
      ) : (
        <>
          <textarea
            {...attributes}
            className={fieldStyles.input}
            aria-label={t('plan.schemaOf', { n: number })}
            rows={6}
            maxLength={MAX_SCHEMA}
            spellCheck={false}
            value={json}
            onChange={event => onChange({ ...shape, json: event.target.value })}
          />
          <Button size="xs" tone="flat" onClick={() => onChange({ values, json: null })}>
            {t('plan.editValues')}
          </Button>
        </>
      )}
    </fieldset>
  )
}
