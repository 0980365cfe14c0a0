import { Play } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type AgentRow, ApiError, comparisons, drafts } from '@/api'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { upsertRows } from '@/realtime'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { isSameContent } from '../content'
import type { Workshop } from './draftSession'

interface CompareDialogProps {
  chatId: string
  agent: AgentRow
  workshop: Workshop
  /** The initial text; null while the dialog is closed. */
  text: string | null
  onClose(): void
  /** Called when the comparison has started. */
  onStarted(): void
}

/** The dialog that starts a comparison: production and the draft answer the same message in the chat. */
export function CompareDialog(props: CompareDialogProps) {
  const { t } = useTexts()
  const { agent, text, onClose } = props
  return (
    <Dialog
      open={text !== null}
      onOpenChange={open => !open && onClose()}
      title={t('compare.title', { name: agent.actor.name })}
      description={t('compare.hint')}
    >
      {text === null ? null : <CompareForm {...props} text={text} />}
    </Dialog>
  )
}

/** Whether the draft can be compared as it is, must be applied first, or cannot be compared. */
type DraftStatus = 'none' | 'applied' | 'typedSince' | 'notApplied' | 'othersText'

function getDraftStatus({ draft, applied, content, isMine, writer }: Workshop): DraftStatus {
  if (!draft) return 'none'
  const isApplied = applied !== null && isSameContent(applied, content)
  if (isApplied) return 'applied'
  if (writer && !isMine) return applied ? 'applied' : 'othersText'
  return applied ? 'typedSince' : 'notApplied'
}

function CompareForm({
  chatId,
  agent,
  workshop,
  text: initialText,
  onClose,
  onStarted,
}: CompareDialogProps & { text: string }) {
  const { t } = useTexts()
  const [text, setText] = useState(initialText)
  const [busy, setBusy] = useState<'ask' | 'apply' | null>(null)
  const [error, setError] = useState<unknown>(null)
  // One id per dialog, so that a request repeated after a lost response starts one comparison.
  const id = useRef(newId())
  const area = useRef<HTMLTextAreaElement>(null)
  // Another message is typed over the one that is offered.
  useEffect(() => area.current?.select(), [])
  const status = getDraftStatus(workshop)
  const agentId = agent.actor.id
  const apply = `r${workshop.draft?.apply_count ?? 0}`

  const startComparison = async (step: 'ask' | 'apply') => {
    if (busy) return
    setBusy(step)
    setError(null)
    try {
      const revision = step === 'apply' ? await applyCurrentDraft() : null
      upsertRows(chatId, [await comparisons.start(chatId, agentId, { id: id.current, text, revision })])
      onStarted()
    } catch (problem) {
      setError(problem)
      setBusy(null)
    }
  }

  /** Applies the draft as it is written, and acquires the lock first if no one is editing. Throws if the text cannot be stored. */
  const applyCurrentDraft = async (): Promise<number> => {
    const typed = await workshop.flush()
    if (typed === null && workshop.isMine) throw new ApiError(0, workshop.getProblem() ?? 'unavailable', 'Not stored.')
    const revision = typed ?? (await drafts.write(chatId, agentId, { revision: null })).revision
    const row = await drafts.apply(chatId, agentId, revision)
    workshop.upsertRow(row)
    return row.revision
  }

  const reasons: Partial<Record<DraftStatus, string>> = {
    none: t('compare.noDraft', { name: agent.actor.name }),
    othersText: t('compare.othersText'),
  }
  const blocked = reasons[status] ?? (text.trim() ? false : t('compare.noText'))
  const needsApply = status === 'typedSince' || status === 'notApplied'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!blocked) void startComparison(needsApply ? 'apply' : 'ask')
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <Field label={t('compare.question')}>
        {attributes => (
          <textarea
            {...attributes}
            ref={area}
            className={fieldStyles.input}
            rows={4}
            maxLength={200_000}
            value={text}
            // biome-ignore lint/a11y/noAutofocus: the dialog is opened to write here
            autoFocus
            onChange={event => setText(event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
            }}
          />
        )}
      </Field>
      {reasons[status] ? <p className="muted sm">{reasons[status]}</p> : null}
      {needsApply ? <p className="muted sm">{t('compare.notApplied')}</p> : null}
      <ErrorBanner error={error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        {status === 'typedSince' ? (
          <Button
            blocked={blocked}
            busy={busy === 'ask' ? t('compare.asking') : null}
            onClick={() => void startComparison('ask')}
          >
            {t('compare.askApplied', { apply })}
          </Button>
        ) : null}
        <Button
          type="submit"
          tone={needsApply ? 'amber' : 'ink'}
          blocked={blocked}
          busy={busy === (needsApply ? 'apply' : 'ask') ? t('compare.asking') : null}
        >
          <Play className="i s" aria-hidden />
          {needsApply ? t('compare.applyAndAsk') : t('compare.ask')}
        </Button>
      </div>
    </form>
  )
}
