import type { ListedSuggestionRow } from '@/api'
import { describeParts } from '@/features/agents'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { Checkbox } from '@/ui/Checkbox'
import { isSelectable } from '../selection'
import { getTitle } from '../wording'
import suggestionsStyles from './Suggestions.module.css'

interface SuggestionItemProps {
  row: ListedSuggestionRow
  isOpen: boolean
  isPicked: boolean
  /** Whether the agent is shown: not if the list is filtered by agent. */
  isAgentShown: boolean
  onOpen(): void
  onPick(): void
}

/** A suggestion in the list: its title, author and version, and a checkbox to select it. */
export function SuggestionItem({ row, isOpen, isPicked, isAgentShown, onOpen, onPick }: SuggestionItemProps) {
  const { t } = useTexts()
  const title = getTitle(row, t)
  return (
    <li className={suggestionsStyles.sugg} data-picked={isPicked || undefined} data-open={isOpen || undefined}>
      {isSelectable(row) ? <Checkbox checked={isPicked} label={t('pick', { title })} onChange={onPick} /> : <span />}
      <Avatar
        id={row.author.id}
        name={row.author.name}
        avatar={row.author.avatar}
        square={row.author.kind === 'agent'}
      />
      <div className="grow">
        <button
          type="button"
          className={suggestionsStyles.t}
          data-suggestion={row.id}
          aria-current={isOpen || undefined}
          lang={detectLanguage(title)}
          onClick={onOpen}
        >
          {title}
        </button>
        <ItemSummary row={row} />
        <div className={suggestionsStyles.m}>
          <span>{row.author.name}</span>
          {row.chat_title ? <span className="cut">{row.chat_title}</span> : null}
          <span title={formatFullTime(row.created_at)}>{formatRelative(row.created_at)}</span>
          <span className={cx(suggestionsStyles.of, 'num')}>
            {isAgentShown ? (
              <>
                <Avatar id={row.agent.id} name={row.agent.name} avatar={row.agent.avatar} square size="tiny" />
                {row.agent.name}
              </>
            ) : null}{' '}
            {t('onVersion', { version: `v${row.base_version}` })}
          </span>
          <SuggestionBadges row={row} />
        </div>
      </div>
    </li>
  )
}

function ItemSummary({ row }: { row: ListedSuggestionRow }) {
  const { t } = useTexts()
  if (row.summary)
    return (
      <p className={suggestionsStyles.sum} lang={detectLanguage(row.summary)}>
        {row.summary}
      </p>
    )
  return row.state === 'pending' && row.summary_state === 'pending' ? (
    <p className={cx(suggestionsStyles.sum, 'faint')}>{t('summaryPending')}</p>
  ) : null
}

/** The badges of a suggestion: parts it changes besides the prompt, an old base version, an active merge, not used. */
export function SuggestionBadges({ row }: { row: ListedSuggestionRow }) {
  const { t } = useTexts()
  const others = row.touches.filter(part => part !== 'prompt')
  const isOld = row.state === 'pending' && row.base_version !== row.production
  return (
    <>
      {others.map(part => (
        <span key={part} data-slot="badge" className={blocks.badge}>
          {describeParts([part], t)}
        </span>
      ))}
      {isOld ? (
        <span
          data-slot="badge"
          className={blocks.badge}
          title={t('baseOldHint', { base: `v${row.base_version}`, now: `v${row.production}` })}
        >
          {t('baseOld')}
        </span>
      ) : null}
      {row.state === 'unused' ? (
        <span data-slot="badge" className={blocks.badge}>
          {t('suggested.unused')}
        </span>
      ) : null}
      {row.state === 'pending' && row.merge_id ? (
        <span data-slot="badge" className={blocks.badge} data-layer="suggestion">
          {t('inMerge')}
        </span>
      ) : null}
    </>
  )
}
