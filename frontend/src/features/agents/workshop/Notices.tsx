import type { ActorRow, AgentRow } from '@/api'
import type { DraftActions } from './actions'
import { ElsewhereBanner, RefusedBanner, StaleBanner, WriterBanner } from './Banners'
import { canWrite } from './Forms'
import { LostBanner } from './LostBanner'
import { SourcesPanel } from './SourcesPanel'
import type { Workshop } from './session'
import type { Sources } from './sources'
import { Wishing } from './Wishing'

interface NoticesProps {
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
  writer: ActorRow | null
  sources: Sources | null
  isStale: boolean
  /** Shows what a newer production changed; null while it is shown. */
  onRebase: (() => void) | null
  onLine(line: number): void
  onGoToChat(id: string): void
}

/** Between tabs and editor, only while there is something to say. */
export function Notices(props: NoticesProps) {
  const { agent, workshop, actions, writer, sources } = props
  const { draft, lost, save } = workshop
  return (
    <>
      {lost ? <LostBanner key={lost.id} lost={lost} agent={agent} workshop={workshop} actions={actions} /> : null}
      {save?.problem ? <RefusedBanner code={save.problem} /> : null}
      {actions.elsewhere ? <ElsewhereBanner elsewhere={actions.elsewhere} onGo={props.onGoToChat} /> : null}
      {writer && workshop.writer ? (
        <WriterBanner writer={writer} until={workshop.writer.until}>
          {draft && canWrite(agent) ? <Wishing draft={draft} writer={writer} /> : null}
        </WriterBanner>
      ) : null}
      {props.isStale && draft ? (
        <StaleBanner base={draft.base_version} production={agent.spec.number ?? 0} onLook={props.onRebase} />
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
