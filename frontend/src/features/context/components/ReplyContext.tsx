import { Archive } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useTexts } from '@/lib/language'
import { lazy } from '@/ui/lazy'
import type { ContextFacts } from '../facts'
import styles from './Context.module.css'

const SummaryDialog = lazy(() => import('./SummaryDialog').then(module => ({ default: module.SummaryDialog })))

interface ChatProps {
  chatId: string
  /** Shows a message in its place in the log. */
  goTo(messageId: string): void
}

interface ReplyContextProps extends ChatProps {
  facts: ContextFacts
}

/** What a reply in a long chat was built from. */
export function ReplyContext({ chatId, goTo, facts }: ReplyContextProps) {
  const { t } = useTexts()
  const found = facts.found ?? []
  const parts = [
    facts.summary_through == null ? null : t('context.ofSummary'),
    facts.pinned ? t('context.ofPinned', { count: facts.pinned }) : null,
    found.length > 0 ? t('context.ofFound', { count: found.length }) : null,
    t('context.ofTurns', { count: facts.turns }),
  ]
  const built = parts.filter(Boolean).join(' + ')
  return facts.summary_through == null ? (
    <span title={t('context.builtFrom')}>{built}</span>
  ) : (
    <SummaryButton chatId={chatId} goTo={goTo} label={built} title={t('context.builtFrom')} />
  )
}

/** The line in the log at the place up to which older messages are summarised. */
export function SummaryLine({ chatId, goTo }: ChatProps) {
  const { t } = useTexts()
  return (
    <div className={styles.line}>
      <Archive className="i s" aria-hidden />
      <span>
        {t('context.summarisedAbove')} · <SummaryButton chatId={chatId} goTo={goTo} label={t('context.openSummary')} />
      </span>
    </div>
  )
}

function SummaryButton({ chatId, goTo, label, title }: ChatProps & { label: string; title?: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={styles.open} aria-haspopup="dialog" title={title} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen ? (
        <Suspense fallback={null}>
          <SummaryDialog
            chatId={chatId}
            onOpenChange={setOpen}
            goTo={id => {
              setOpen(false)
              goTo(id)
            }}
          />
        </Suspense>
      ) : null}
    </>
  )
}
