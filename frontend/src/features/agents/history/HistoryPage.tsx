import { ArrowLeft, CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { type ActorRow, type AgentRow, type ReplyRow, useSuggestionsIn, useVersions } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { Skeleton } from '@/ui/Skeleton'
import { Compared } from './Compared'
import { ExportMenu } from './ExportMenu'
import { type HistorySearch, type Pair, pairOf } from './pair'
import { Replies } from './Replies'
import { VersionList } from './VersionList'

interface HistoryPageProps {
  agent: AgentRow
  search: HistorySearch
  who(id: string): ActorRow | null
  onBack(): void
  onPick(pair: Pair | null): void
  replyLink(row: ReplyRow, children: ReactNode): ReactNode
}

const none: ReadonlyMap<number, number> = new Map()

/** Every version of an agent, and any two of them side by side. On a phone these are two screens. */
export function HistoryPage({ agent, search, who, onBack, onPick, replyLink }: HistoryPageProps) {
  const { t } = useTexts()
  const { actor, spec } = agent
  const versions = useVersions(actor.id, spec.id)
  const suggestions = useSuggestionsIn(actor.workspace_id ?? '', actor.id, spec.id).data ?? none
  const pair = pairOf(search, spec.number ?? 1)
  const isDetail = search.b !== undefined
  return (
    <main className="stage" id="log" tabIndex={-1}>
      <header className="bar">
        <IconButton label={t('backToAgent')} className={isDetail ? 'only-wide' : undefined} onClick={onBack}>
          <ArrowLeft className="i" aria-hidden />
        </IconButton>
        {isDetail ? (
          <IconButton label={t('versions')} className="only-phone" onClick={() => onPick(null)}>
            <ArrowLeft className="i" aria-hidden />
          </IconButton>
        ) : null}
        <Face id={actor.id} name={actor.name} square size="m" />
        <h1 className="cut">{actor.name}</h1>
        <span className="faint xs only-wide">{t('versions')}</span>
        <div className="end">
          <ExportMenu agentId={actor.id} version={pair.b} />
        </div>
      </header>
      {versions.error ? (
        <div className="pad">
          <div className="banner bad" role="alert">
            <CircleAlert className="i s" aria-hidden />
            <span className="grow">{textOfError(versions.error)}</span>
            <Button size="xs" onClick={() => void versions.refetch()}>
              {t('retry')}
            </Button>
          </div>
        </div>
      ) : null}
      {versions.data ? (
        <div className="split" data-view={isDetail ? 'detail' : undefined}>
          <VersionList
            versions={versions.data}
            production={spec.id}
            pair={pair}
            suggestions={suggestions}
            who={who}
            onPick={onPick}
          />
          <div className="opened">
            <Compared
              agent={agent}
              versions={versions.data}
              isReading={versions.isPlaceholderData}
              pair={pair}
              chat={search.chat ?? null}
              onPick={onPick}
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
