import { Archive } from 'lucide-react'
import { Popover } from 'radix-ui'
import { Suspense, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { lazy } from '@/ui/lazy'
import menuStyles from '@/ui/Menu.module.css'
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

/** What a reply in a long chat was built from. It opens the summary, and the list of the found messages. */
export function ReplyContext({ chatId, goTo, facts }: ReplyContextProps) {
  const { t } = useTexts()
  const found = facts.found ?? []
  const hasSummary = facts.summary_through != null
  const title = t('context.builtFrom')
  const pinned = facts.pinned ? `${t('context.ofPinned', { count: facts.pinned })} + ` : ''
  const turns = t(facts.is_shortened ? 'context.ofShortened' : 'context.ofTurns', { count: facts.turns })
  if (found.length === 0) {
    if (!hasSummary) return <span title={title}>{pinned + turns}</span>
    return (
      <SummaryButton
        chatId={chatId}
        goTo={goTo}
        label={`${t('context.ofSummary')} + ${pinned}${turns}`}
        title={title}
      />
    )
  }
  return (
    <span title={title}>
      {hasSummary ? (
        <>
          <SummaryButton chatId={chatId} goTo={goTo} label={t('context.ofSummary')} /> +{' '}
        </>
      ) : null}
      {pinned}
      <OlderMessages found={found} goTo={goTo} /> + {turns}
    </span>
  )
}

interface OlderMessagesProps {
  found: NonNullable<ContextFacts['found']>
  goTo(messageId: string): void
}

/** The number of the older messages that were found for the reply, which opens the list of them. */
function OlderMessages({ found, goTo }: OlderMessagesProps) {
  const { t } = useTexts()
  return (
    <Popover.Root>
      <Popover.Trigger className={styles.open}>{t('context.ofFound', { count: found.length })}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.found)}
          side="top"
          align="start"
          sideOffset={6}
          collisionPadding={12}
          aria-label={t('context.foundMessages')}
        >
          <h2 className={menuStyles.cap}>{t('context.foundMessages')}</h2>
          <ul>
            {found.map(one => (
              <li key={one.message_id}>
                <Popover.Close className={cx(menuStyles.opt, styles.foundMessage)} onClick={() => goTo(one.message_id)}>
                  {t('context.openCited', { n: one.seq })}
                </Popover.Close>
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
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
          <SummaryDialog chatId={chatId} onClose={() => setOpen(false)} goTo={goTo} />
        </Suspense>
      ) : null}
    </>
  )
}
