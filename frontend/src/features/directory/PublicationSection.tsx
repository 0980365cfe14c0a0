import { Globe } from 'lucide-react'
import { type AgentRow, type PublicationRow, usePublication, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { publicAgentPath, publishPath } from '@/lib/paths'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { PathLink } from '@/ui/PathLink'

interface PublicationSectionProps {
  agent: AgentRow
  workspace: WorkspaceRow
  onGo(path: string): void
}

/** On the page of an agent: whether it is public, and the way to publish it. For those who may publish it. */
export function PublicationSection({ agent, workspace, onGo }: PublicationSectionProps) {
  const { t } = useTexts()
  const query = usePublication(workspace.id, agent.actor.id)
  const publication = query.data
  const [last] = publication?.takedowns ?? []
  const label = publication?.listing ? 'publish.update.dots' : last ? 'publish.anew' : 'publish.dots'
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        <Globe className="i s" aria-hidden />
        {t('directory')}
        <span className="end">
          {publication ? (
            <Button size="xs" onClick={() => onGo(publishPath(workspace.handle, agent.actor.id))}>
              {t(label)}
            </Button>
          ) : null}
        </span>
      </h2>
      <div className={cx(blocks.b, 'sm')}>
        {publication ? (
          <Status publication={publication} agent={agent} workspace={workspace} onGo={onGo} />
        ) : (
          <Loading query={query} lines={1} />
        )}
      </div>
    </section>
  )
}

function Status({ publication, agent, workspace, onGo }: PublicationSectionProps & { publication: PublicationRow }) {
  const { t } = useTexts()
  const { listing, origin_version } = publication
  const [last] = publication.takedowns
  if (listing)
    return (
      <p>
        {t('publish.isPublic', { version: listing.version, origin: `v${origin_version}` })}{' '}
        {agent.spec.number === origin_version ? null : t('publish.behind', { version: `v${agent.spec.number}` })}{' '}
        <PathLink className="link" path={publicAgentPath(workspace.handle, listing.actor.handle)} onGo={onGo}>
          {listing.actor.name}
        </PathLink>{' '}
        {listing.is_suspended ? <span className="no">{t('publish.isSuspended')}</span> : null}
      </p>
    )
  if (!last) return <p className="faint">{t('publish.isPrivate')}</p>
  return (
    <p>
      {t(last.by_operator ? 'takenDown.byOperator' : 'takenDown.byPublisher', {
        date: formatShortDate(last.taken_down_at),
      })}{' '}
      {last.reason ? <q lang={detectLanguage(last.reason)}>{last.reason}</q> : null}
    </p>
  )
}
