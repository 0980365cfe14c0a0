import { Plus, X } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import fieldStyles from '@/ui/Field.module.css'
import type { ParameterField } from '../boards'
import styles from './Plan.module.css'

interface ParameterFieldsProps {
  /** The name of the group, such as "Parameters of task 2". */
  label: string
  fields: readonly ParameterField[]
  onChange(fields: readonly ParameterField[]): void
}

/** The parameters of a task as pairs of a name and a value. */
export function ParameterFields({ label, fields, onChange }: ParameterFieldsProps) {
  const { t } = useTexts()
  const change = (index: number, part: Partial<ParameterField>) =>
    onChange(fields.map((field, at) => (at === index ? { ...field, ...part } : field)))
  return (
    <fieldset className={styles.parameters}>
      <legend className="sr">{label}</legend>
      {fields.map((field, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity, and rows are not reordered
        <div key={index} className={styles.pair}>
          <input
            className={fieldStyles.input}
            aria-label={t('plan.parameterName', { n: index + 1 })}
            placeholder={t('plan.name')}
            value={field.name}
            maxLength={100}
            onChange={event => change(index, { name: event.target.value })}
          />
          <input
            className={fieldStyles.input}
            aria-label={
              field.name ? t('plan.valueOf', { name: field.name }) : t('plan.parameterValue', { n: index + 1 })
            }
            placeholder={t('plan.value')}
            value={field.text}
            onChange={event => change(index, { text: event.target.value })}
          />
          <IconButton
            small
            label={t('plan.removeParameter', { name: field.name || String(index + 1) })}
            onClick={() => onChange(fields.filter((_, at) => at !== index))}
          >
            <X className="i s" />
          </IconButton>
        </div>
      ))}
      <Button size="xs" tone="flat" onClick={() => onChange([...fields, { name: '', text: '' }])}>
        <Plus className="i s" aria-hidden />
        {t('plan.addParameter')}
      </Button>
    </fieldset>
  )
}
