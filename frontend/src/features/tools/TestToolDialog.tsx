import { Check, TriangleAlert } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type ToolJobRow, testTool, type WorkspaceToolRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
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

interface TestToolDialogProps {
  tool: WorkspaceToolRow
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

/** Returns an example of the arguments: the required ones, empty. */
function buildExample(schema: Record<string, unknown>): string {
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : []
  return JSON.stringify(Object.fromEntries(required.map(name => [name, ''])), null, 2)
}

function Form({ tool, workspaceId }: { tool: WorkspaceToolRow; workspaceId: string }) {
  const { t } = useTexts()
  const [text, setText] = useState(() => buildExample(tool.input_schema))
  const [isMalformed, setMalformed] = useState(false)
  const [result, setResult] = useState<ToolJobRow | null>(null)
  const { busy, error, run } = useAsyncAction()
  const aborter = useRef<AbortController | null>(null)
  useEffect(() => () => aborter.current?.abort(), [])
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    let callArguments: Record<string, unknown>
    try {
      callArguments = JSON.parse(text || '{}') as Record<string, unknown>
    } catch {
      setMalformed(true)
      return
    }
    const controller = new AbortController()
    aborter.current = controller
    void run(async () => setResult(await testTool(workspaceId, tool.id, callArguments, controller.signal)))
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <Field label={t('tools.arguments')} error={isMalformed ? t('field.malformed') : null}>
        {attributes => (
          <textarea
            {...attributes}
            className={cx(fieldStyles.input, 'mono')}
            rows={5}
            spellCheck={false}
            value={text}
            onChange={event => {
              setMalformed(false)
              setText(event.target.value)
            }}
          />
        )}
      </Field>
      <ErrorBanner error={error} />
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
        <Button tone="ink" type="submit" busy={busy ? t('tools.testing') : null}>
          {t(tool.effect === 'write' ? 'tools.test.runWrite' : 'tools.test.run')}
        </Button>
      </div>
    </form>
  )
}
