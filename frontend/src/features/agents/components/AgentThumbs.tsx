import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { type AgentRow, type AgentThumbRow, type ThumbValue, useAgentThumbs, useThumbCounts } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatNumber, formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { PathLink } from '@/ui/PathLink'
import styles from './AgentThumbs.module.css'

const values = ['all', 'down', 'up'] as const

interface AgentThumbsProps {
  agent: AgentRow
  getPath(chatId: string, messageId: string): string
  onGo(path: string): void
}

/** What people think of the answers of an agent, for its editors. */
export function AgentThumbs({ agent, getPath, onGo }: AgentThumbsProps) {
  const { t } = useTexts()
  const { id, name } = agent.actor
  const [value, setValue] = useState<ThumbValue | 'all'>('all')
  const query = useAgentThumbs(id, value === 'all' ? null : value)
  const counts = useThumbCounts(id).data
  const thumbs = query.data?.pages.flatMap(page => page.results) ?? []
  const isNone = counts !== undefined && counts.up + counts.down === 0
  return (
    <div className={styles.page}>
      <div className={styles.filters}>
        <select
          aria-label={t('thumbs.which')}
          value={value}
          onChange={event => setValue(event.target.value as ThumbValue | 'all')}
        >
          {values.map(name => (
            <option key={name} value={name}>
              {t(`thumbs.${name}`)}
            </option>
          ))}
        </select>
        {counts ? (
          <span className="muted sm num">
            {t('thumbs.counts', { up: formatNumber(counts.up), down: formatNumber(counts.down) })}
          </span>
        ) : null}
        {counts?.unreadable ? (
          <span className="faint sm num">{t('thumbs.unreadable', { n: formatNumber(counts.unreadable) })}</span>
        ) : null}
      </div>
      {query.data ? null : <Loading query={query} lines={6} />}
      {query.data && thumbs.length === 0 ? (
        <p className="muted sm">{isNone ? t('thumbs.none', { name }) : t('thumbs.noneHere')}</p>
      ) : null}
      <ul className={styles.list}>
        {thumbs.map(thumb => (
          <Thumb key={thumb.id} thumb={thumb} path={getPath(thumb.chat_id, thumb.message_id)} onGo={onGo} />
        ))}
      </ul>
      {query.hasNextPage ? (
        <Button busy={query.isFetchingNextPage ? t('loading') : null} onClick={() => void query.fetchNextPage()}>
          {t('thumbs.more')}
        </Button>
      ) : null}
    </div>
  )
}

interface ThumbProps {
  thumb: AgentThumbRow
  path: string
  onGo(path: string): void
}

function Thumb({ thumb, path, onGo }: ThumbProps) {
  const { t } = useTexts()
  const { person, value, reason, text, excerpt, agent_version: version, draft_apply: apply } = thumb
  const layer = version === null ? 'applied' : 'production'
  const Icon = value === 'up' ? ThumbsUp : ThumbsDown
  return (
    <li className={styles.thumb}>
      <div className="row sm">
        <Avatar id={person.id} name={person.name} avatar={person.avatar} square={false} />
        <b className="cut">{person.name}</b>
        <span role="img" aria-label={t(`thumbs.${value}`)} title={t(`thumbs.${value}`)} data-value={value}>
          <Icon className="i s" aria-hidden />
        </span>
        {reason ? <span className={blocks.badge}>{t(`thumbs.reason.${reason}`)}</span> : null}
        <span className="end faint xs nowrap">{formatRelative(thumb.created_at)}</span>
      </div>
      {text ? (
        <p className={styles.text} lang={detectLanguage(text)}>
          {text}
        </p>
      ) : null}
      <blockquote className={styles.answer} lang={detectLanguage(excerpt)}>
        {excerpt || t('deletedMessage')}
      </blockquote>
      <div className="row xs faint">
        {version !== null || apply !== null ? (
          <span className={blocks.badge} data-layer={layer}>
            <LayerIcon layer={layer} />
            {version === null ? `r${apply}` : `v${version}`}
          </span>
        ) : null}
        <PathLink className="link cut" path={path} onGo={onGo} title={t('goToMessage')}>
          {thumb.chat_title}
        </PathLink>
      </div>
    </li>
  )
}
