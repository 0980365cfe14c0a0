import { useQueryClient } from '@tanstack/react-query'
import { ArrowRight, CircleAlert, FileUp, TriangleAlert } from 'lucide-react'
import { type DragEvent, type FormEvent, useEffect, useId, useState } from 'react'
import { ApiError, type ImportRow, importAgent, keys, type NewAgentRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import historyStyles from '../history/History.module.css'

interface ImportFormProps {
  workspaceId: string
  onMade(agent: NewAgentRow): void
}

const PAUSE_MS = 400

/** Create an agent from a file. Its content, and what this workspace lacks, is shown first. */
export function ImportForm({ workspaceId, onMade }: ImportFormProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [typed, setTyped] = useState<string | null>(null)
  const trial = useTrial(workspaceId, text)
  const { busy, error, run } = useAsyncAction()
  const name = typed ?? trial.row?.name ?? ''

  const make = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const made = await importAgent(workspaceId, { text, name: name.trim(), is_trial: false })
      await client.invalidateQueries({ queryKey: keys.workspace(workspaceId) })
      if (made.agent) onMade({ ...made.agent, chat_id: made.chat_id })
    })
  }
  return (
    <form className="col gap" onSubmit={make}>
      <FileDrop text={text} onText={setText} />
      {trial.error ? <Problem error={trial.error} /> : null}
      {trial.row ? <Report row={trial.row} /> : null}
      <TextField
        label={t('agentName')}
        value={name}
        required
        maxLength={80}
        className="short"
        error={error ? textOfError(error) : null}
        onChange={setTyped}
      />
      <div className="row">
        <Button
          tone="ink"
          type="submit"
          busy={busy ? t('makingAgent') : trial.isWaiting ? t('readingFile') : null}
          blocked={trial.row ? (name.trim() ? false : t('nameFirst')) : t('fileFirst')}
        >
          {t('importAndChat')}
          <ArrowRight className="i" aria-hidden />
        </Button>
      </div>
    </form>
  )
}

interface Trial {
  row: ImportRow | null
  error: unknown
  isWaiting: boolean
}

const idle: Trial = { row: null, error: null, isWaiting: false }

/** What would come of a text: asked a moment after the last change. */
function useTrial(workspaceId: string, text: string): Trial {
  const [trial, setTrial] = useState<Trial>(idle)
  useEffect(() => {
    if (!text.trim()) return setTrial(idle)
    let isOver = false
    const show = (next: Trial) => {
      if (!isOver) setTrial(next)
    }
    setTrial(before => ({ ...before, isWaiting: true }))
    const timer = setTimeout(() => {
      importAgent(workspaceId, { text, is_trial: true }).then(
        row => show({ row, error: null, isWaiting: false }),
        (error: unknown) => show({ row: null, error, isWaiting: false }),
      )
    }, PAUSE_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [workspaceId, text])
  return trial
}

/** A file is dropped or chosen, or its text is pasted. */
function FileDrop({ text, onText }: { text: string; onText(text: string): void }) {
  const { t } = useTexts()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = (files: FileList | null) => void files?.[0]?.text().then(onText)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    take(event.dataTransfer.files)
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shorter way to the button in it */}
      <div
        className={cx(historyStyles.drop, isOver && historyStyles.over)}
        onDragOver={event => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <FileUp className="i" aria-hidden />
        <span className="grow muted">{t('dropFile')}</span>
        <label className={buttonStyles.btn} htmlFor={id}>
          {t('chooseFile')}
        </label>
        <input
          id={id}
          type="file"
          className="sr"
          accept=".yaml,.yml,.json,application/yaml,application/json"
          onChange={event => {
            take(event.target.files)
            event.target.value = ''
          }}
        />
      </div>
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
  /** A field, or a line; empty where it is about the whole file. */
  where: string
  why: 'missing' | 'unknown' | 'unfit' | 'syntax' | 'alias' | 'tag' | 'depth'
  /** The same more exactly, in English. */
  text: string
}

/** Why a file cannot be read, field by field. */
function Problem({ error }: { error: unknown }) {
  const { t } = useTexts()
  const problems = error instanceof ApiError ? ((error.data.problems ?? []) as FileProblem[]) : []
  return (
    <div className={cx(blocks.banner, blocks.bad)} role="alert">
      <CircleAlert className="i s" aria-hidden />
      <div className="grow">
        {textOfError(error)}
        {problems.length > 0 ? (
          <ul className={historyStyles.hints}>
            {problems.map(({ where, why, text }) => (
              <li key={`${where} ${text}`}>
                {where ? <code lang="en">{where}</code> : null} {t(`fileProblem.${why}`)}{' '}
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

const asContent = (row: ImportRow) => row.content as { prompt: string; tools: { tool: string }[] }

/** What the file brings, and what of it this workspace does not have. */
function Report({ row }: { row: ImportRow }) {
  const { t } = useTexts()
  const content = asContent(row)
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
      {row.missing.map(one => (
        <p key={`${one.what} ${one.name}`} className="row sm">
          <TriangleAlert className="i s" aria-hidden />
          <span>
            <code>{one.name}</code> {t(`missing.${one.what}`)}
          </span>
        </p>
      ))}
    </div>
  )
}
