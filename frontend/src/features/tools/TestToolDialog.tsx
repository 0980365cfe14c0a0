import { Check, TriangleAlert } from 'lucide-react'
import { type FormEvent, useMemo, useState } from 'react'
import { type ToolEffect, useToolTest } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatSeconds } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import styles from './Tools.module.css'
import { listTestFields, readTestArguments, type TestField } from './testArguments'

/** What a test needs of a tool, in the settings and in the workshop. */
interface TestedTool {
  id: string
  name: string
  effect: ToolEffect
  input_schema: Record<string, unknown>
}

interface TestToolDialogProps {
  tool: TestedTool
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
}

/** Calls a tool once. For a tool that writes, the dialog says so before. */
export function TestToolDialog({ tool, workspaceId, open, onOpenChange }: TestToolDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('tools.testOf', { name: tool.name })}
      description={t(tool.effect === 'write' ? 'tools.test.writes' : 'tools.test.hint')}
      className={cx(dialogStyles.wide)}
    >
      <Form tool={tool} workspaceId={workspaceId} />
    </Dialog>
  )
}

function Form({ tool, workspaceId }: { tool: TestedTool; workspaceId: string }) {
  const { t } = useTexts()
  const fields = useMemo(() => listTestFields(tool.input_schema), [tool.input_schema])
  const [texts, setTexts] = useState<Record<string, string>>({})
  const test = useToolTest(workspaceId, tool.id)
  const result = test.data
  const callArguments = readTestArguments(fields, texts)
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (callArguments) test.mutate(callArguments)
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      {fields.map(field => (
        <Field key={field.name} label={field.name} hint={field.description}>
          {attributes => (
            <ArgumentInput
              attributes={attributes}
              field={field}
              value={texts[field.name] ?? ''}
              onChange={text => setTexts({ ...texts, [field.name]: text })}
            />
          )}
        </Field>
      ))}
      <ErrorBanner error={test.error} />
      {result ? (
        <div className={styles.side} role="status">
          <h3 className={cx(styles.state, result.is_ok ? styles.good : styles.bad)}>
            {result.is_ok ? <Check className="i s" aria-hidden /> : <TriangleAlert className="i s" aria-hidden />}
            {t(result.is_ok ? 'tools.result' : 'tools.failed')} ·{' '}
            {t('secondsShort', { n: formatSeconds(result.seconds) })}
          </h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <pre className={styles.text} tabIndex={0}>
            <span>{result.is_ok ? result.text : result.message}</span>
          </pre>
        </div>
      ) : null}
      <div className="row endrow">
        <Button
          tone="ink"
          type="submit"
          busy={test.isPending ? t('tools.testing') : null}
          blocked={!callArguments && t('approval.invalid')}
        >
          {t(tool.effect === 'write' ? 'tools.test.runWrite' : 'tools.test.run')}
        </Button>
      </div>
    </form>
  )
}

interface ArgumentInputProps {
  attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }
  field: TestField
  value: string
  onChange(text: string): void
}

function ArgumentInput({ attributes, field, value, onChange }: ArgumentInputProps) {
  const common = { ...attributes, value, 'aria-required': field.isRequired, className: fieldStyles.input }
  if (field.choices.length > 0) {
    return (
      <select {...common} onChange={event => onChange(event.target.value)}>
        <option value="" />
        {field.choices.map(choice => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  if (field.kind === 'json') {
    return (
      <textarea
        {...common}
        className={cx(fieldStyles.input, 'mono')}
        rows={3}
        spellCheck={false}
        onChange={event => onChange(event.target.value)}
      />
    )
  }
  return (
    <input
      {...common}
      inputMode={field.kind === 'number' ? 'decimal' : undefined}
      onChange={event => onChange(event.target.value)}
    />
  )
}
