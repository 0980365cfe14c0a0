import { Play } from 'lucide-react'
import { type FormEvent, useRef, useState } from 'react'
import { type AgentRow, comparisons, drafts } from '@/api'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { upsertRows } from '@/realtime'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { isSame } from '../content'
import type { Workshop } from './draftSession'

interface CompareDialogProps {
  chatId: string
  agent: AgentRow
  workshop: Workshop
  /** The text to begin with; null: it is closed. */
  text: string | null
  onClose(): void
  /** Both have been asked. */
  onAsked(): void
}

/** Asks production and the draft the same, in the chat. */
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

/** What stands in the way of asking, or what has to come first. */
type DraftStatus = 'none' | 'applied' | 'typedSince' | 'notApplied' | 'othersText'

function statusOf({ draft, applied, content, isMine, writer }: Workshop): DraftStatus {
  if (!draft) return 'none'
  const isApplied = applied !== null && isSame(applied, content)
  if (isApplied) return 'applied'
  if (writer && !isMine) return applied ? 'applied' : 'othersText'
  return applied ? 'typedSince' : 'notApplied'
}

function CompareForm({
  chatId,
  agent,
  workshop,
  text: first,
  onClose,
  onAsked,
}: CompareDialogProps & { text: string }) {
  const { t } = useTexts()
  const [text, setText] = useState(first)
  const [busy, setBusy] = useState<'ask' | 'apply' | null>(null)
  const [error, setError] = useState<unknown>(null)
  // One for the whole intent: asking again after a lost answer asks once.
  const id = useRef(newId())
  const status = statusOf(workshop)
  const agentId = agent.actor.id
  const apply = `r${workshop.draft?.apply_count ?? 0}`

  const ask = async (what: 'ask' | 'apply') => {
    if (busy) return
    setBusy(what)
    setError(null)
    try {
      const revision = what === 'apply' ? await applied() : null
      upsertRows(chatId, [await comparisons.start(chatId, agentId, { id: id.current, text, revision })])
      onAsked()
    } catch (problem) {
      setError(problem)
      setBusy(null)
    }
  }

  /** Applies what is written; where nobody writes, the draft is taken for it. */
  const applied = async (): Promise<number> => {
    const typed = await workshop.flush()
    const revision = typed ?? (await drafts.write(chatId, agentId, { revision: null })).revision
    const row = await drafts.apply(chatId, agentId, revision)
    workshop.learnRow(row)
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
    if (!blocked) void ask(needsApply ? 'apply' : 'ask')
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <Field label={t('compare.question')}>
        {attributes => (
          <textarea
            {...attributes}
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
      {error ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          {textOfError(error)}
        </div>
      ) : null}
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        {status === 'typedSince' ? (
          <Button blocked={blocked} busy={busy === 'ask' ? t('compare.asking') : null} onClick={() => void ask('ask')}>
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
