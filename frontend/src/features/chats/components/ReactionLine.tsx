import { SmilePlus } from 'lucide-react'
import type { MessageRow, Reaction } from '@/api'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { IconButton } from '@/ui/Button'
import { Tooltip } from '@/ui/Tooltip'
import { hasReacted, toggleReaction } from '../ownReactions'
import { isPinnable } from '../pins'
import { chooseRowToReact, openChoice } from '../reactions'
import { useChat } from './ChatContext'
import styles from './Reactions.module.css'

/** The most names that are listed for an emoji. */
const MAX_NAMES = 20

/** The reactions of a message, and the button that adds one. */
export function ReactionLine({ rows }: { rows: readonly MessageRow[] }) {
  const { canReact } = useChat()
  const { t } = useTexts()
  const id = chooseRowToReact(rows)?.id
  return (
    <fieldset className={styles.line} aria-label={t('reactions.title')}>
      {rows
        .filter(isPinnable)
        .flatMap(row =>
          (row.reactions ?? []).map(reaction => (
            <Pill key={`${row.id} ${reaction.emoji}`} row={row} reaction={reaction} />
          )),
        )}
      {canReact && id ? (
        <IconButton
          small
          label={t('react')}
          className={styles.add}
          aria-haspopup="dialog"
          onClick={({ currentTarget: anchor }) => openChoice.set({ id, anchor })}
        >
          <SmilePlus className="i" aria-hidden />
        </IconButton>
      ) : null}
    </fieldset>
  )
}

/** An emoji with the number of those who reacted so. Their names are shown on hover and read by screen readers. */
function Pill({ row, reaction }: { row: MessageRow; reaction: Reaction }) {
  const { t } = useTexts()
  const { me, findActor, canReact } = useChat()
  const { emoji, actor_ids: ids } = reaction
  const isMine = hasReacted(row, emoji, me)
  const getName = (id: string) => {
    const actor = findActor(id)
    const name = actor?.name ?? t('unknownPerson')
    return actor?.kind === 'agent' ? t('reactions.agent', { name }) : name
  }
  const others = ids.filter(id => id !== me).map(getName)
  const all = isMine ? [t('you'), ...others] : others
  const left = all.length - MAX_NAMES
  const names = formatList(left > 0 ? [...all.slice(0, MAX_NAMES), t('reactions.more', { count: left })] : all)
  const label = `${emoji} ${ids.length}, ${names}`
  const content = (
    <>
      <span className={styles.emoji} aria-hidden>
        {emoji}
      </span>
      <span className="num">{ids.length}</span>
    </>
  )
  if (!canReact)
    return (
      <span className={styles.pill} role="img" aria-label={label} title={names}>
        {content}
      </span>
    )
  return (
    <Tooltip text={t('reactions.by', { names, emoji })}>
      <button
        type="button"
        className={styles.pill}
        aria-label={label}
        aria-pressed={isMine}
        onClick={() => void toggleReaction(row, emoji, me)}
      >
        {content}
      </button>
    </Tooltip>
  )
}
