import { Pencil, RotateCcw } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { type HistorySummaryRow, type SentenceRow, useSummary, useSummaryActions } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatNumber, formatShortDate, formatTime } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import { formatDates } from '../dates'
import styles from './Context.module.css'

interface SummaryDialogProps {
  chatId: string
  onClose(): void
  /** Shows a message in its place in the log. The dialog is closed before. */
  goTo(messageId: string): void
}

const onError = (error: Error) => void showToast(getErrorText(error))

/** The summary of a chat's older messages. Each sentence names its messages, and can be corrected. */
export function SummaryDialog({ chatId, onClose, goTo }: SummaryDialogProps) {
  const { t } = useTexts()
  const query = useSummary(chatId)
  const actions = useSummaryActions(chatId)
  const summary = query.data
  return (
    <Dialog
      open
      onOpenChange={onClose}
      className={styles.dialog}
      title={summary?.id ? t('context.summaryOf', { count: summary.messages }) : t('context.summary')}
      description={summary ? <About summary={summary} /> : null}
    >
      {summary ? (
        <>
          <Sections
            summary={summary}
            goTo={id => {
              onClose()
              goTo(id)
            }}
            actions={actions}
          />
          <footer className={styles.foot}>
            <span className="faint xs">{t('context.whenLong', { strategy: t(`context.${summary.strategy}`) })}</span>
            <Button
              blocked={summary.state === 'writing'}
              busy={actions.writeAnew.isPending ? t('saving') : null}
              onClick={() => actions.writeAnew.mutate(undefined, { onError })}
            >
              <RotateCcw className="i s" aria-hidden />
              {t('context.writeAnew')}
            </Button>
          </footer>
        </>
      ) : (
        <Loading query={query} lines={6} />
      )}
    </Dialog>
  )
}

const formatMoment = (iso: string) => `${formatShortDate(iso)} ${formatTime(iso)}`

function About({ summary }: { summary: HistorySummaryRow }) {
  const { t } = useTexts()
  const { from_at, through_at, written_at, state } = summary
  const dates = from_at && through_at ? formatDates(t, from_at, through_at) : null
  const written = written_at ? t('context.written', { time: formatMoment(written_at), model: summary.model }) : null
  const tokens = summary.id
    ? t('context.tokensFor', { n: formatNumber(summary.tokens), of: formatNumber(summary.source_tokens) })
    : null
  const failed = t(summary.id ? 'context.notContinued' : 'context.failed')
  const progress = state === 'writing' ? t('context.writing') : state === 'failed' ? failed : null
  return [dates, written, tokens, progress].filter(Boolean).join(' · ') || t('context.none')
}

interface SectionsProps {
  summary: HistorySummaryRow
  goTo(messageId: string): void
  actions: ReturnType<typeof useSummaryActions>
}

function Sections({ summary, goTo, actions }: SectionsProps) {
  const sentences = summary.sentences
  const titles = [...new Set(sentences.map(sentence => sentence.section))]
  return titles.map(title => (
    <section key={title} className={styles.section}>
      {title ? <h3>{title}</h3> : null}
      <ul>
        {sentences
          .filter(sentence => sentence.section === title)
          .map(sentence => (
            <Sentence key={sentence.id} sentence={sentence} goTo={goTo} actions={actions} />
          ))}
      </ul>
    </section>
  ))
}

function Sentence({ sentence, goTo, actions }: Omit<SectionsProps, 'summary'> & { sentence: SentenceRow }) {
  const { t } = useTexts()
  const [isEditing, setEditing] = useState(false)
  const sources = (
    <span className={styles.sources}>
      {sentence.sources.map(one => (
        <button
          key={one.seq}
          type="button"
          className={styles.number}
          aria-label={t('context.openCited', { n: one.seq })}
          title={t('context.openCited', { n: one.seq })}
          onClick={() => goTo(one.message_id)}
        >
          {one.seq}
        </button>
      ))}
    </span>
  )
  if (isEditing)
    return (
      <li>
        <CorrectionForm sentence={sentence} actions={actions} onClose={() => setEditing(false)}>
          {sources}
        </CorrectionForm>
      </li>
    )
  const { correction_id, corrected_at } = sentence
  return (
    <li className={styles.sentence}>
      <div lang={detectLanguage(sentence.text)}>
        {sentence.old_text ? (
          <>
            <del>{sentence.old_text}</del>
            <br />
          </>
        ) : null}
        {sentence.old_text ? <ins>{sentence.text}</ins> : sentence.text} {sources}
        {correction_id && corrected_at ? (
          <p className="faint xs">
            {t('context.correctedBy', { name: sentence.corrected_by_name, time: formatMoment(corrected_at) })} ·{' '}
            <button type="button" className="link" onClick={() => actions.undo.mutate(correction_id, { onError })}>
              {t('context.undo')}
            </button>
          </p>
        ) : null}
        <EndedCorrections sentence={sentence} />
      </div>
      <IconButton label={t('context.correct')} onClick={() => setEditing(true)}>
        <Pencil className="i s" />
      </IconButton>
    </li>
  )
}

/** The corrections of a sentence that are not in force: a later one has replaced them, or they were undone. */
function EndedCorrections({ sentence }: { sentence: SentenceRow }) {
  const { t } = useTexts()
  const ended = sentence.ended
  if (ended.length === 0) return null
  return (
    <details className="faint xs">
      <summary>{t('context.nEnded', { count: ended.length })}</summary>
      {ended.map(one => (
        <p key={one.id}>
          {one.by_name}, {formatMoment(one.created_at)}: <span lang={detectLanguage(one.text)}>{one.text}</span>
        </p>
      ))}
    </details>
  )
}

interface CorrectionFormProps extends Omit<SectionsProps, 'summary' | 'goTo'> {
  sentence: SentenceRow
  children: React.ReactNode
  onClose(): void
}

function CorrectionForm({ sentence, actions, children, onClose }: CorrectionFormProps) {
  const { t } = useTexts()
  const id = useId()
  const [text, setText] = useState(sentence.text)
  const save = (event: FormEvent) => {
    event.preventDefault()
    actions.correct.mutate({ sentenceId: sentence.id, text }, { onSuccess: onClose, onError })
  }
  return (
    <form className="col gap" onSubmit={save}>
      <label htmlFor={id} className="sr">
        {t('context.correction')}
      </label>
      <textarea
        id={id}
        className={fieldStyles.input}
        rows={3}
        maxLength={600}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <div className="row spread wrap">
        <span className="faint xs">{children}</span>
        <span className="row">
          <Button tone="flat" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            tone="ink"
            blocked={!text.trim() || text.trim() === sentence.text}
            busy={actions.correct.isPending ? t('saving') : null}
          >
            {t('context.saveCorrection')}
          </Button>
        </span>
      </div>
    </form>
  )
}
