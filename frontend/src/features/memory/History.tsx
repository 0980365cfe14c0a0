import { useState } from 'react'
import { type HistoryEntryRow, type MemoryRow, useClearHistory, useHistory, useMemoryActions } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatNumber, formatRelative } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import styles from './Memory.module.css'
import type { MemoryPageProps } from './MemoryPage'

/** Number of entries that are shown until the reader asks for all. */
const FIRST_ENTRIES = 3

/** The history of an agent over its chats, as far as the reader may read it. */
export function History({ agent, workspaceId, memory, onOpenChat }: MemoryPageProps & { memory: MemoryRow }) {
  const { t } = useTexts()
  const { actor } = agent
  const query = useHistory(workspaceId, actor.id)
  const [isOpen, setOpen] = useState(false)
  const entries = query.data?.pages.flatMap(page => page.results) ?? []
  const shown = isOpen ? entries : entries.slice(0, FIRST_ENTRIES)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('memory.history')}
        <span className="end faint xs num">
          {t('memory.tokens', { n: formatNumber(memory.tokens), max: formatNumber(memory.max_tokens) })}
        </span>
      </h2>
      <div className={blocks.b}>
        <div className={styles.bar} aria-hidden>
          <span style={{ width: `${Math.min(100, (100 * memory.tokens) / memory.max_tokens)}%` }} />
        </div>
        {query.data ? null : <Loading query={query} lines={3} />}
        {query.data && entries.length === 0 ? (
          <p className="faint sm">{t(memory.memory_scope === 'agent' ? 'memory.noHistory' : 'memory.offHistory')}</p>
        ) : null}
        <ul className={cx(styles.entries, !isOpen && styles.closed)}>
          {shown.map(entry => (
            <Entry key={entry.id} entry={entry} onOpenChat={onOpenChat} isOpen={isOpen} />
          ))}
        </ul>
        {memory.hidden_entries > 0 ? (
          <p className="faint xs">{t('memory.hiddenEntries', { count: memory.hidden_entries })}</p>
        ) : null}
        <div className="row">
          {entries.length > 0 ? (
            <Button size="xs" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
              {t(isOpen ? 'memory.readLess' : 'memory.readAll')}
            </Button>
          ) : null}
          {isOpen && query.hasNextPage ? (
            <Button size="xs" onClick={() => void query.fetchNextPage()}>
              {t('memory.more')}
            </Button>
          ) : null}
          {memory.can_edit ? <Clearing name={actor.name} workspaceId={workspaceId} memory={memory} /> : null}
        </div>
      </div>
    </section>
  )
}

interface ClearingProps {
  name: string
  workspaceId: string
  memory: MemoryRow
}

/** The button that clears the history, and the last clearing, which can be undone for a day. */
function Clearing({ name, workspaceId, memory }: ClearingProps) {
  const { t } = useTexts()
  const [isAsking, setAsking] = useState(false)
  const { undoClearing } = useMemoryActions(workspaceId, memory.agent_id)
  const clearHistory = useClearHistory(workspaceId, memory.agent_id)
  const showError = (error: unknown) => showToast(getErrorText(error))
  const undo = (id: string) => void undoClearing(id).catch(showError)
  const clear = () =>
    clearHistory.mutate(undefined, {
      onSuccess: clearing =>
        showToast(t('memory.cleared', { name }), { label: t('memory.undo'), run: () => undo(clearing.id) }),
      onError: showError,
      onSettled: () => setAsking(false),
    })
  const { clearing } = memory
  return (
    <>
      {memory.entries > 0 ? (
        <Button size="xs" tone="bad" onClick={() => setAsking(true)}>
          {t('memory.clear')}
        </Button>
      ) : null}
      {clearing?.undo_until ? (
        <span className="faint xs">
          {t('memory.clearedBy', { name: clearing.cleared_by.name, time: formatRelative(clearing.cleared_at) })}{' '}
          <button type="button" className="link" onClick={() => undo(clearing.id)}>
            {t('memory.undo')}
          </button>
        </span>
      ) : null}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={t('memory.clearTitle', { name })}
        description={t('memory.clearEffects')}
        action={t('memory.clear')}
        busy={clearHistory.isPending ? t('memory.clearing') : null}
        onConfirm={clear}
      >
        {memory.hidden_entries > 0 ? <p>{t('memory.clearHidden', { count: memory.hidden_entries })}</p> : null}
      </ConfirmDialog>
    </>
  )
}

interface EntryProps {
  entry: HistoryEntryRow
  isOpen: boolean
  onOpenChat(chatId: string, messageId?: string): void
}

function Entry({ entry, isOpen, onOpenChat }: EntryProps) {
  const { t } = useTexts()
  const turns = isOpen ? entry.turns : entry.turns.slice(-1)
  return (
    <li>
      <span className={styles.meta}>
        <span>{formatRelative(entry.created_at)}</span>
        <button
          type="button"
          className="link cut"
          onClick={() => onOpenChat(entry.chat_id, entry.turns[0]?.message_id)}
        >
          {entry.chat_title}
        </button>
        {entry.outcome === 'completed' ? null : <span>{t(`memory.outcome.${entry.outcome}`)}</span>}
      </span>
      {turns.length === 0 ? <p className={cx(styles.turn, 'faint')}>{t('memory.messageGone')}</p> : null}
      {turns.map(turn => (
        <p key={turn.message_id} className={styles.turn} lang={detectLanguage(turn.text)}>
          <span className="faint xs">
            {turn.kind === 'message' ? turn.author_name : t(turn.kind === 'call' ? 'memory.called' : 'memory.you')}
          </span>{' '}
          {turn.text}
          {turn.result ? <span className="muted"> → {turn.result}</span> : null}
        </p>
      ))}
    </li>
  )
}
