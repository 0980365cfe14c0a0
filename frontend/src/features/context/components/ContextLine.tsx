import { Popover } from 'radix-ui'
import { Suspense, useState } from 'react'
import { useContextSettings, useSummary } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { lazy } from '@/ui/lazy'
import menuStyles from '@/ui/Menu.module.css'
import { PathLink } from '@/ui/PathLink'
import { formatDates } from '../dates'
import { findLimit, type NextContext } from '../facts'
import styles from './Context.module.css'

const SummaryDialog = lazy(() => import('./SummaryDialog').then(module => ({ default: module.SummaryDialog })))

interface ContextLineProps {
  chatId: string
  workspaceId: string
  next: NextContext
  /** The path of the settings for long chats. */
  settingsPath: string
  onGo(path: string): void
  /** Shows a message in its place in the log. */
  goTo(messageId: string): void
}

/** Says in the composer of a long chat what the next answer reads of the chat. A click opens the details. */
export function ContextLine({ chatId, workspaceId, next, settingsPath, onGo, goTo }: ContextLineProps) {
  const { t } = useTexts()
  const [isSummaryOpen, setSummaryOpen] = useState(false)
  const summary = useSummary(chatId).data
  const settings = useContextSettings(workspaceId).data
  const count = next.hasSummary ? (summary?.messages ?? 0) : 0
  const limit = findLimit(next.limit, settings?.max_tokens ?? null)
  const hasFailed = summary?.state === 'failed'
  const older =
    count > 0
      ? t('context.nSummarised', { count })
      : t(next.strategy === 'retrieve' ? 'context.olderFound' : 'context.olderLeftOut')
  return (
    <>
      <Popover.Root>
        <Popover.Trigger className={styles.next} title={t('context.nextReads')}>
          {older} · {t('context.nInFull', { count: next.inFull })}
          {hasFailed ? ` · ${t('context.summaryFailed')}` : null}
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content
            className={cx(menuStyles.pop, styles.details)}
            side="top"
            align="end"
            sideOffset={6}
            collisionPadding={12}
            aria-label={t('context.nextReads')}
          >
            <h2>{t('context.nextReads')}</h2>
            <dl>
              <div>
                <dt>{t('context.olderMessages')}</dt>
                <dd>{t(`context.${next.strategy}Hint`)}</dd>
              </div>
              {count > 0 && summary?.from_at && summary.through_at ? (
                <div>
                  <dt>{t('context.summary')}</dt>
                  <dd>
                    {t('context.nMessages', { count })} · {formatDates(t, summary.from_at, summary.through_at)} ·{' '}
                    {t('context.tokensFor', {
                      n: formatNumber(summary.tokens),
                      of: formatNumber(summary.source_tokens),
                    })}
                  </dd>
                </div>
              ) : null}
              <div>
                <dt>{t('context.inFull')}</dt>
                <dd>{t('context.newest', { count: next.inFull })}</dd>
              </div>
              <div>
                <dt>{t('context.limit')}</dt>
                <dd>
                  {limit
                    ? t(`context.limitOf.${limit.by}`, { n: formatNumber(limit.tokens) })
                    : t('context.limitOfModel')}
                </dd>
              </div>
            </dl>
            <footer>
              {count > 0 ? (
                <Popover.Close className="link" onClick={() => setSummaryOpen(true)}>
                  {t('context.openSummary')}
                </Popover.Close>
              ) : null}
              <PathLink className="link" path={settingsPath} onGo={onGo}>
                {t('settings.context')}
              </PathLink>
            </footer>
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      {isSummaryOpen ? (
        <Suspense fallback={null}>
          <SummaryDialog chatId={chatId} onClose={() => setSummaryOpen(false)} goTo={goTo} />
        </Suspense>
      ) : null}
    </>
  )
}
