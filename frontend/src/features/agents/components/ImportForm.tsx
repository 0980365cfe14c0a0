import { useQueryClient } from '@tanstack/react-query'
import { ArrowRight, CircleAlert, TriangleAlert } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError, type ImportRow, importAgent, keys } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { FileDrop } from '@/ui/FileDrop'
import versionsStyles from '../versions/Versions.module.css'

interface ImportFormProps {
  workspaceId: string
  onMade(chatId: string | null): void
}

const PAUSE_MS = 400

/** The form that creates an agent from a file. It first shows the content of the file and what this workspace lacks. */
export function ImportForm({ workspaceId, onMade }: ImportFormProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [typedName, setTypedName] = useState<string | null>(null)
  const preview = useImportPreview(workspaceId, text)
  const { busy, error, run } = useAsyncAction()
  const name = typedName ?? preview.row?.name ?? ''

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const made = await importAgent(workspaceId, { text, name: name.trim(), is_trial: false })
      await client.invalidateQueries({ queryKey: keys.workspace(workspaceId) })
      if (made.agent) onMade(made.chat_id)
    })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <FileInput text={text} onText={setText} />
      {preview.error ? <FileProblems error={preview.error} /> : null}
      {preview.row ? <FileReport row={preview.row} /> : null}
      <TextField
        label={t('agentName')}
        value={name}
        required
        maxLength={80}
        className="short"
        error={error ? getErrorText(error) : null}
        onChange={setTypedName}
      />
      <div className="row">
        <Button
          tone="ink"
          type="submit"
          busy={busy ? t('makingAgent') : preview.isWaiting ? t('readingFile') : null}
          blocked={preview.row ? (name.trim() ? false : t('nameFirst')) : t('fileFirst')}
        >
          {t('importAndChat')}
          <ArrowRight className="i" aria-hidden />
        </Button>
      </div>
    </form>
  )
}

interface Preview {
  row: ImportRow | null
  error: unknown
  isWaiting: boolean
}

const idle: Preview = { row: null, error: null, isWaiting: false }

/** Returns the agent that would be created from a text. The request is sent `PAUSE_MS` after the last change. */
function useImportPreview(workspaceId: string, text: string): Preview {
  const [preview, setPreview] = useState<Preview>(idle)
  useEffect(() => {
    if (!text.trim()) return setPreview(idle)
    let isCancelled = false
    const show = (next: Preview) => {
      if (!isCancelled) setPreview(next)
    }
    setPreview(before => ({ ...before, isWaiting: true }))
    const timer = setTimeout(() => {
      importAgent(workspaceId, { text, is_trial: true }).then(
        row => show({ row, error: null, isWaiting: false }),
        (error: unknown) => show({ row: null, error, isWaiting: false }),
      )
    }, PAUSE_MS)
    return () => {
      isCancelled = true
      clearTimeout(timer)
    }
  }, [workspaceId, text])
  return preview
}

/** The input for a file: dropped, chosen, or pasted as text. */
function FileInput({ text, onText }: { text: string; onText(text: string): void }) {
  const { t } = useTexts()
  return (
    <>
      <FileDrop
        accept=".yaml,.yml,.json,application/yaml,application/json"
        onFile={file => void file.text().then(onText)}
      />
      <Field label={t('orPasteFile')}>
        {attributes => (
          <textarea
            {...attributes}
            className={cx(fieldStyles.input, 'mono')}
            rows={7}
            spellCheck={false}
            value={text}
            placeholder={'atelier: agent/1\nname: …\nprompt: |\n  …'}
            onChange={event => onText(event.target.value)}
          />
        )}
      </Field>
    </>
  )
}

interface FileProblem {
  /** A field or a line; empty if the problem concerns the whole file. */
  where: string
  kind: 'missing' | 'unknown' | 'unfit' | 'syntax' | 'alias' | 'tag' | 'depth' | 'double'
  /** The details, in English. */
  text: string
}

/** The reasons why a file cannot be read. */
function FileProblems({ error }: { error: unknown }) {
  const { t } = useTexts()
  const problems = error instanceof ApiError ? ((error.data.problems ?? []) as FileProblem[]) : []
  return (
    <div className={cx(blocks.banner, blocks.bad)} role="alert">
      <CircleAlert className="i s" aria-hidden />
      <div className="grow">
        {getErrorText(error)}
        {problems.length > 0 ? (
          <ul className={versionsStyles.hints}>
            {problems.map(({ where, kind, text }) => (
              <li key={`${where} ${text}`}>
                {where ? <code lang="en">{where}</code> : null} {t(`fileProblem.${kind}`)}{' '}
                <span className="faint xs" lang="en">
                  {text}
                </span>
              </li>
            ))}
          </ul>
        ) : null}
      </div>
    </div>
  )
}

/** The content of the file, and the parts of it that this workspace lacks. */
function FileReport({ row }: { row: ImportRow }) {
  const { t } = useTexts()
  const content = row.content as { prompt: string; tools: { tool: string }[] }
  const lines = content.prompt ? content.prompt.split('\n').length : 0
  return (
    <div className="col" role="status">
      <p className="sm">
        <b>{row.name}</b>{' '}
        <span className="faint">
          {t('fileLines', { count: lines })} · {t('fileTools', { count: content.tools.length })}
        </span>
      </p>
      {row.missing.length === 0 ? <p className="sm muted">{t('nothingMissing')}</p> : null}
      {row.missing.map(item => (
        <p key={`${item.kind} ${item.name}`} className="row sm">
          <TriangleAlert className="i s" aria-hidden />
          <span>
            <code>{item.name}</code> {t(`missing.${item.kind}`)}
          </span>
        </p>
      ))}
    </div>
  )
}
