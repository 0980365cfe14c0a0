/** What a reply is made of, wherever it stands: its parts, that it is awaited, how it ended, and what can be done about it. */
import { CircleAlert, CircleStop, RotateCcw, Square } from 'lucide-react'
import { useState } from 'react'
import { type RunRow, retryRun, stopRun } from '@/api'
import { runErrorText, textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { seconds } from '@/lib/time'
import { learn } from '@/realtime'
import { Button } from '@/ui/Button'
import { Fold } from '@/ui/Fold'
import { say } from '@/ui/Toasts'
import type { Ending, Part } from '../reply'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import { ToolRow } from './ToolRow'

export function PartView({ part, isEnded }: { part: Part; isEnded: boolean }) {
  switch (part.kind) {
    case 'thinking':
      return <Thought part={part} />
    case 'tool':
      return <ToolRow part={part} />
    case 'text':
      return <Words part={part} isEnded={isEnded} />
  }
}

function Words({ part, isEnded }: { part: Extract<Part, { kind: 'text' }>; isEnded: boolean }) {
  const { t } = useTexts()
  const { names } = useChat()
  return (
    <div className={part.live ? 'words growing' : 'words'} data-part={part.row?.id}>
      <LazyProse text={part.text} names={names} growing={part.live} />
      {part.incomplete && !isEnded ? <p className="faint xs">{t('incomplete')}</p> : null}
    </div>
  )
}

function Thought({ part }: { part: Extract<Part, { kind: 'thinking' }> }) {
  const { t } = useTexts()
  const label = part.live
    ? t('thinking')
    : part.seconds === null
      ? t('thought')
      : t('thoughtFor', { n: seconds(part.seconds) })
  return (
    <Fold
      plain
      head={
        <span className="cut">
          {label}
          {part.live ? ` · ${part.text.slice(-80)}` : ''}
        </span>
      }
    >
      <p className="thought">{part.text}</p>
    </Fold>
  )
}

export function Waiting({ run }: { run: RunRow }) {
  const { t } = useTexts()
  const label = run.state === 'queued' ? t('queued') : t('working')
  return (
    <div className="waiting faint">
      <span className="typing" role="img" aria-label={label}>
        <i />
        <i />
        <i />
      </span>
    </div>
  )
}

export function Stop({ run }: { run: RunRow }) {
  const { t } = useTexts()
  const [asked, setAsked] = useState(false)
  const stop = async () => {
    setAsked(true)
    try {
      learn(run.chat_id, [await stopRun(run.id)])
    } catch (error) {
      setAsked(false)
      say(textOfError(error))
    }
  }
  return (
    <span className="end">
      <Button size="xs" onClick={() => void stop()} busy={asked || run.stopping ? t('stopping') : null}>
        <Square className="i s" aria-hidden />
        {t('stop')}
      </Button>
    </span>
  )
}

/** What the model's server said itself: for whoever has to mend it. */
export function Details({ note }: { note: string }) {
  const { t } = useTexts()
  return (
    <Fold plain head={t('details')}>
      <p className="thought" lang="en">
        {note}
      </p>
    </Fold>
  )
}

export function Ended({ ending, runId }: { ending: Ending; runId: string }) {
  const { t } = useTexts()
  const { chatId, who } = useChat()
  const [busy, setBusy] = useState(false)
  const retry = async () => {
    setBusy(true)
    try {
      learn(chatId, [await retryRun(runId)])
    } catch (error) {
      say(textOfError(error))
    }
    setBusy(false)
  }
  const by = who(ending.by)?.name
  const Icon = ending.kind === 'failed' ? CircleAlert : CircleStop
  return (
    <>
      <span className={ending.kind === 'failed' ? 'no' : 'row faint'}>
        <Icon className="i s" aria-hidden />
        {ending.kind === 'failed' ? runErrorText(ending.code) : by ? t('stoppedBy', { name: by }) : t('stopped')}
      </span>
      <Button size="xs" onClick={() => void retry()} busy={busy ? t('retry') : null}>
        <RotateCcw className="i s" aria-hidden />
        {t('retry')}
      </Button>
    </>
  )
}
