import { ArrowLeft } from 'lucide-react'
import { type AgentRow, usePublication, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { currentLanguage, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { PublicationForm } from './PublicationForm'
import { buildInitialValues } from './storedPublication'

interface PublishPageProps {
  agent: AgentRow
  workspace: WorkspaceRow
  /** Opens the workshop of the agent; null while it is in no chat. */
  onEdit: (() => void) | null
  onBack(): void
  onGo(path: string): void
}

/** The page on which an editor publishes an agent, or updates its public copy. */
export function PublishPage({ agent, workspace, onEdit, onBack, onGo }: PublishPageProps) {
  const { t } = useTexts()
  const publication = usePublication(workspace.id, agent.actor.id)
  const { actor } = agent
  const isPublic = Boolean(publication.data?.listing)
  const initial = publication.data && buildInitialValues(agent, publication.data, currentLanguage())
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <IconButton label={t('publish.back', { name: actor.name })} onClick={onBack}>
          <ArrowLeft className="i" />
        </IconButton>
        <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="m" />
        <h1 className="cut">{t(isPublic ? 'publish.updateTitle' : 'publish.title', { name: actor.name })}</h1>
        <span className="faint sm cut only-wide">{t(isPublic ? 'publish.updateLead' : 'publish.lead')}</span>
      </header>
      {publication.data && initial ? (
        <PublicationForm
          // New initial values mount the form again: cached ones may be old, and another person may publish the agent
          // or take it down meanwhile.
          key={JSON.stringify(initial)}
          storageKey={`atelier.publication.${actor.id}`}
          initial={initial}
          agent={agent}
          publication={publication.data}
          workspace={workspace}
          onEdit={onEdit}
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
