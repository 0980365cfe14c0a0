import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  type ActorRow,
  type AgentRow,
  type ListedSuggestionRow,
  type ReplyRow,
  useSuggestionsByVersion,
  useVersions,
} from '@/api'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { ExportMenu } from './ExportMenu'
import { getPair, type Pair, type VersionsSearch } from './pair'
import { Replies } from './Replies'
import { VersionComparison } from './VersionComparison'
import { VersionList } from './VersionList'

interface VersionsPageProps {
  agent: AgentRow
  search: VersionsSearch
  findActor(id: string): ActorRow | null
  onBack(): void
  onPick(pair: Pair | null): void
  replyLink(row: ReplyRow, children: ReactNode): ReactNode
  suggestionLink(id: string, children: ReactNode): ReactNode
}

const noSuggestions: ReadonlyMap<number, readonly ListedSuggestionRow[]> = new Map()

/** The versions of an agent, and a comparison of any two. On a phone these are two screens. */
export function VersionsPage({
  agent,
  search,
  findActor,
  onBack,
  onPick,
  replyLink,
  suggestionLink,
}: VersionsPageProps) {
  const { t } = useTexts()
  const { actor, spec } = agent
  const versions = useVersions(actor.id, spec.id)
  const suggestions = useSuggestionsByVersion(actor.workspace_id ?? '', actor.id, spec.id).data ?? noSuggestions
  const pair = getPair(search, spec.number ?? 1)
  const hasVersion = versions.data?.some(version => version.number === pair.b)
  const isDetail = search.b !== undefined
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <IconButton label={t('backToAgent')} className={isDetail ? 'only-wide' : undefined} onClick={onBack}>
          <ArrowLeft className="i" aria-hidden />
        </IconButton>
        {isDetail ? (
          <IconButton label={t('versions')} className="only-phone" onClick={() => onPick(null)}>
            <ArrowLeft className="i" aria-hidden />
          </IconButton>
        ) : null}
        <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="m" />
        <h1 className="cut">{actor.name}</h1>
        <span className="faint xs only-wide">{t('versions')}</span>
        <div className="end">{hasVersion ? <ExportMenu agentId={actor.id} version={pair.b} /> : null}</div>
      </header>
      {versions.error ? <LoadError error={versions.error} onRetry={() => void versions.refetch()} /> : null}
      {versions.data ? (
        <div className={layout.split} data-pane="list" data-view={isDetail ? 'detail' : undefined}>
          <VersionList
            versions={versions.data}
            production={spec.id}
            pair={pair}
            suggestions={suggestions}
            findActor={findActor}
            onPick={onPick}
          />
          <div className={layout.opened}>
            <VersionComparison
              agent={agent}
              versions={versions.data}
              isReading={versions.isPlaceholderData}
              pair={pair}
              chat={search.chat ?? null}
              onPick={onPick}
              suggestions={suggestions.get(pair.b) ?? []}
              suggestionLink={suggestionLink}
              replies={<Replies agentId={actor.id} version={pair.b} link={replyLink} />}
            />
          </div>
        </div>
      ) : versions.error ? null : (
        <Skeleton lines={6} label={t('loading')} />
      )}
    </main>
  )
}
