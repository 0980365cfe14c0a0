import { ArrowLeft } from 'lucide-react'
import { type AgentRow, type PublicationRow, usePublication, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { currentLanguage, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { PublicationForm } from './PublicationForm'
import { buildInitialValues } from './publicationDraft'

interface PublishPageProps {
  agent: AgentRow
  workspace: WorkspaceRow
  onBack(): void
  onGo(path: string): void
}

/** The page on which an editor publishes an agent, or its next version. */
export function PublishPage({ agent, workspace, onBack, onGo }: PublishPageProps) {
  const { t } = useTexts()
  const publication = usePublication(workspace.id, agent.actor.id)
  const { actor } = agent
  const isPublic = Boolean(publication.data?.listing)
  return (
    <main className={layout.stage} id="log" tabIndex={-1}>
      <header className={layout.bar}>
        <IconButton label={t('publish.back', { name: actor.name })} onClick={onBack}>
          <ArrowLeft className="i" />
        </IconButton>
        <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="m" />
        <h1 className="cut">{t(isPublic ? 'publish.updateTitle' : 'publish.title', { name: actor.name })}</h1>
        <span className="faint sm cut only-wide">{t(isPublic ? 'publish.updateLead' : 'publish.lead')}</span>
      </header>
      {publication.data ? (
        <PublicationForm
          key={describeState(publication.data)}
          storageKey={`atelier.publication.${actor.id}`}
          initial={buildInitialValues(agent, publication.data, currentLanguage())}
          agent={agent}
          publication={publication.data}
          workspace={workspace}
          onCancel={onBack}
          onGo={onGo}
        />
      ) : (
        <div className={cx(layout.page, layout.pad)}>
          <Loading query={publication} lines={8} />
        </div>
      )}
    </main>
  )
}

/** The form begins anew, with what was entered, when another person publishes the agent or takes it down. */
const describeState = ({ listing }: PublicationRow) => (listing ? `${listing.actor.id} ${listing.version}` : 'new')
