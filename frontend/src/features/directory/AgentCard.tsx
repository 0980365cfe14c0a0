import { Activity, Building2, type LucideIcon, Wrench } from 'lucide-react'
import type { ActorRow, DirectoryRow } from '@/api'
import { cx } from '@/lib/cx'
import { type Texts, useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { formatCount } from './counts'
import styles from './Directory.module.css'

/** What a card shows of a public agent. */
interface CardFacts extends Pick<DirectoryRow, 'tool_count' | 'workspace_count' | 'run_count'> {
  actor: Pick<ActorRow, 'id' | 'name' | 'avatar' | 'description'>
  /** A badge beside the name; empty for none. */
  badge: string
  publisher: string
}

/** Returns the description of an agent in the directory. That of an agent of this release is in the reader's language. */
export const getDescription = (
  { actor, is_shipped }: Pick<DirectoryRow, 'actor' | 'is_shipped'>,
  t: Texts['t'],
): string => (is_shipped && actor.handle === 'browser' ? t('directory.about.browser') : (actor.description ?? ''))

/** Returns the facts of an agent in the directory. */
export const toCardFacts = (row: DirectoryRow, t: Texts['t']): CardFacts => ({
  ...row,
  actor: { ...row.actor, description: getDescription(row, t) },
  badge: row.is_yours ? t('directory.yours') : '',
  publisher: row.publisher_name ?? t('directory.shipped'),
})

/** The content of the card of a public agent in the directory. */
export function AgentCard({ facts }: { facts: CardFacts }) {
  const { t } = useTexts()
  const { actor, badge, publisher } = facts
  const description = actor.description ?? ''
  return (
    <>
      <span className={styles.head}>
        <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="l" />
        <span className={styles.titles}>
          <span className="row">
            <b className="cut">{actor.name}</b>
            {badge ? <span className={blocks.badge}>{badge}</span> : null}
          </span>
          <span className="faint xs cut">{publisher}</span>
        </span>
      </span>
      <span className={styles.about} lang={detectLanguage(description)}>
        {description}
      </span>
      <span className={cx(styles.counts, 'faint xs num')}>
        <Count icon={Wrench} text={t('nTools', { count: facts.tool_count })} />
        <Count
          icon={Building2}
          text={formatCount(facts.workspace_count)}
          label={t('directory.workspaces', { n: formatCount(facts.workspace_count) })}
        />
        <Count icon={Activity} text={t('directory.replies', { n: formatCount(facts.run_count) })} />
      </span>
    </>
  )
}

/** `label` is read instead of the text. */
function Count({ icon: Icon, text, label }: { icon: LucideIcon; text: string; label?: string }) {
  return (
    <span className="row" title={label}>
      <Icon className="i s" aria-hidden />
      {label ? (
        <>
          <span aria-hidden>{text}</span>
          <span className="sr">{label}</span>
        </>
      ) : (
        text
      )}
    </span>
  )
}
