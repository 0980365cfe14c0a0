import type { ActorRow, ListedSuggestionRow, SpecRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'
import { describeOrigin } from './origin'
import type { Pair } from './pair'
import versionsStyles from './Versions.module.css'

interface VersionListProps {
  versions: readonly SpecRow[]
  production: string
  pair: Pair
  /** The accepted suggestions of each version, by version number. */
  suggestions: ReadonlyMap<number, readonly ListedSuggestionRow[]>
  findActor(id: string): ActorRow | null
  onPick(pair: Pair): void
}

const noSuggestions: readonly ListedSuggestionRow[] = []

/** The list of versions, newest first, with buttons to show a version or to compare with it. */
export function VersionList({ versions, production, pair, suggestions, findActor, onPick }: VersionListProps) {
  const { t } = useTexts()
  return (
    <section className={layout.list} aria-label={t('versions')}>
      <div className={layout.tool}>
        <span className="grow">{t('versionCount', { count: versions.length })}</span>
        {versions.length > 1 ? <span className="xs faint">{t('pickTwo')}</span> : null}
      </div>
      <ul>
        {versions.map(spec => (
          <VersionItem
            key={spec.id}
            spec={spec}
            isProduction={spec.id === production}
            side={spec.number === pair.b ? 'B' : spec.number === pair.a ? 'A' : null}
            author={findActor(spec.author_id)}
            suggestions={suggestions.get(spec.number ?? 0) ?? noSuggestions}
            onShow={() => onPick({ a: (spec.number ?? 1) - 1, b: spec.number ?? 1 })}
            onCompare={() => onPick({ a: spec.number ?? 0, b: pair.b })}
          />
        ))}
      </ul>
    </section>
  )
}

interface VersionItemProps {
  spec: SpecRow
  isProduction: boolean
  side: 'A' | 'B' | null
  author: ActorRow | null
  suggestions: readonly ListedSuggestionRow[]
  onShow(): void
  onCompare(): void
}

function VersionItem({ spec, isProduction, side, author, suggestions, onShow, onCompare }: VersionItemProps) {
  const { t } = useTexts()
  const version = `v${spec.number}`
  return (
    <li className={versionsStyles.ver} data-picked={side ? '' : undefined}>
      <button type="button" className={versionsStyles.n} onClick={onShow} aria-current={side === 'B' || undefined}>
        {version}
        <span className="sr">{t('showVersion')}</span>
      </button>
      <div>
        <div className={versionsStyles.what} lang={detectLanguage(spec.message)}>
          {spec.message || t(spec.origin === 'created' ? 'firstVersion' : 'noMessage')}
        </div>
        <div className={versionsStyles.m}>
          {author ? (
            <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} />
          ) : null}
          <span>{author?.name ?? t('someoneGone')}</span>
          <time dateTime={spec.created_at} title={formatFullTime(spec.created_at)}>
            {formatRelative(spec.created_at)}
          </time>
          <span>{describeOrigin(t, spec, suggestions)}</span>
          {isProduction ? (
            <span className={blocks.badge} data-layer="production">
              <LayerIcon layer="production" />
              {t('production')}
            </span>
          ) : null}
        </div>
      </div>
      {side === 'B' ? (
        <span className={versionsStyles.ab}>B</span>
      ) : (
        <button
          type="button"
          className={cx(versionsStyles.ab, versionsStyles.a)}
          aria-pressed={side === 'A'}
          aria-label={t('compareWith', { version })}
          title={t('compareWith', { version })}
          onClick={onCompare}
        >
          A
        </button>
      )}
    </li>
  )
}
