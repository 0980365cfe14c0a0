import { type ActorRow, type AgentRow, useLockedDrafts } from '@/api'
import { EditedDrafts } from '../components/EditedDrafts'
import type { DraftActions } from './actions'
import { ElsewhereBanner, RefusedBanner, RequestBanner, StaleBanner, WriterBanner } from './Banners'
import type { Workshop } from './draftSession'
import { canWrite } from './Forms'
import { LostBanner } from './LostBanner'
import type { Sources } from './provenance'
import { SourcesPanel } from './SourcesPanel'
import { WaitlistButtons } from './WaitlistButtons'
import workshopStyles from './Workshop.module.css'

interface DraftNoticesProps {
  chatId: string
  workspaceId: string
  me: string
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
  writer: ActorRow | null
  findActor(id: string): ActorRow | null
  sources: Sources | null
  isStale: boolean
  /** Shows the changes of a newer production; null while they are shown. */
  onRebase: (() => void) | null
  onLine(line: number): void
  onGoToChat(id: string): void
}

/** The notices above the editor. */
export function DraftNotices(props: DraftNoticesProps) {
  const { agent, workshop, actions, writer, sources } = props
  const { draft, lost, save } = workshop
  return (
    <>
      {lost ? <LostBanner key={lost.id} lost={lost} agent={agent} workshop={workshop} actions={actions} /> : null}
      {save?.problem ? <RefusedBanner code={save.problem} /> : null}
      {actions.elsewhere ? (
        <ElsewhereBanner
          elsewhere={actions.elsewhere}
          onGo={props.onGoToChat}
          onClose={() => void actions.releaseElsewhere()}
        />
      ) : null}
      {actions.elsewhere ? null : <EditedElsewhere {...props} />}
      {workshop.isMine
        ? draft?.requested_by.map(id => {
            const requester = props.findActor(id)
            return requester ? (
              <RequestBanner
                key={id}
                requester={requester}
                isBusy={actions.doing === 'doing.handingOver'}
                onHandOver={() => void actions.handOver(id)}
              />
            ) : null
          })
        : null}
      {writer && workshop.writer ? (
        <WriterBanner writer={writer} until={workshop.writer.until}>
          {draft && canWrite(agent) ? <WaitlistButtons draft={draft} writer={writer} /> : null}
        </WriterBanner>
      ) : null}
      {props.isStale && draft ? (
        <StaleBanner base={draft.base_version} production={agent.spec.number ?? 0} onCompare={props.onRebase} />
      ) : null}
      {draft?.provenance && sources ? (
        <SourcesPanel
          agentName={agent.actor.name}
          draft={draft}
          provenance={draft.provenance}
          sources={sources}
          workshop={workshop}
          onLine={props.onLine}
        />
      ) : null}
    </>
  )
}

/** The drafts of this agent that are edited in other chats. */
function EditedElsewhere({ chatId, workspaceId, me, agent, onGoToChat }: DraftNoticesProps) {
  const drafts = useLockedDrafts(workspaceId).data ?? []
  const others = drafts.filter(draft => draft.agent_id === agent.actor.id && draft.chat_id !== chatId)
  if (others.length === 0) return null
  return (
    <div className={workshopStyles.bannerbox}>
      <EditedDrafts drafts={others} me={me} onGo={onGoToChat} />
    </div>
  )
}
