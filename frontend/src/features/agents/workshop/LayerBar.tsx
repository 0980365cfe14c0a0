import type { ReactNode } from 'react'
import { type ActorRow, type AgentRow, usePendingSuggestions } from '@/api'
import { type Layer, LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatShortDate, formatTime } from '@/lib/time'
import { PathLink } from '@/ui/PathLink'
import type { Workshop } from './draftSession'
import workshopStyles from './Workshop.module.css'

/** `rebase` shows the changes of a newer production, or the changes of the draft. */
export type WorkshopView = 'write' | 'production' | 'applied' | 'rebase'

interface LayerBarProps {
  agent: AgentRow
  workspaceId: string
  /** The path of the suggestions for this agent. */
  pendingSuggestionsPath: string
  workshop: Workshop
  nameOf(id: string): string
  me: ActorRow
  view: WorkshopView
  onView(view: WorkshopView): void
  onGo(path: string): void
}

/** The layers of the agent in this chat: production, applied draft, editing, suggestions. The layer that answers is highlighted. */
export function LayerBar(props: LayerBarProps) {
  const { agent, workshop, nameOf, me, view, onView } = props
  const { t } = useTexts()
  const { draft, applied, writer } = workshop
  // Unlike `workshop.isMine`, also true after a conflict with another tab in which this person edits the draft.
  const isMine = workshop.save !== null
  const until = isMine ? draft?.lock_expires_at : writer?.until
  return (
    <section className={workshopStyles.layerBar} aria-label={t('layers')}>
      <LayerCell
        layer="production"
        label={t('production')}
        isAnswering={!applied}
        isOpen={view === 'production'}
        onOpen={() => onView('production')}
      >
        v{agent.spec.number} <small>{formatShortDate(agent.spec.created_at)}</small>
      </LayerCell>
      <LayerCell
        layer="applied"
        label={t('appliedHere')}
        isAnswering={applied !== null}
        isOpen={view === 'applied'}
        onOpen={applied ? () => onView('applied') : null}
      >
        {draft && applied ? (
          <>
            r{draft.apply_count} <small>{t('by', { name: draft.applied_by ? nameOf(draft.applied_by) : '' })}</small>
          </>
        ) : (
          t('none')
        )}
      </LayerCell>
      <LayerCell
        layer="writing"
        label={t('editing')}
        isAnswering={false}
        isOpen={view === 'write'}
        isNone={!isMine && !writer}
        onOpen={() => onView('write')}
      >
        {isMine || writer ? (
          <>
            {isMine ? t('you') : nameOf(writer?.id ?? me.id)}{' '}
            <small>{until ? t('until', { time: formatTime(until) }) : ''}</small>
          </>
        ) : (
          t('noEditor')
        )}
      </LayerCell>
      <SuggestionsCell {...props} />
    </section>
  )
}

function SuggestionsCell({ agent, workspaceId, pendingSuggestionsPath, onGo }: LayerBarProps) {
  const { t } = useTexts()
  const pending = usePendingSuggestions(workspaceId, agent.actor.id).data
  const n = pending?.count ?? 0
  return (
    <PathLink
      className={cx(n === 0 && workshopStyles.none)}
      data-layer="suggestion"
      path={pendingSuggestionsPath}
      onGo={onGo}
    >
      <CellLabel layer="suggestion" label={t('suggestionsOf')} />
      <span className={workshopStyles.v}>
        {n === 0 ? t('none') : n}
        {n === 0 ? null : (
          <small>
            {pending?.isMore ? '+ ' : ' '}
            {t('pending')}
          </small>
        )}
      </span>
    </PathLink>
  )
}

const CellLabel = ({ layer, label }: { layer: Layer; label: string }) => (
  <span className={workshopStyles.t}>
    <LayerIcon layer={layer} />
    {label}
  </span>
)

interface LayerCellProps {
  layer: Layer
  label: string
  isAnswering: boolean
  isOpen: boolean
  isNone?: boolean
  /** Null if the layer has no text to show. */
  onOpen: (() => void) | null
  children: ReactNode
}

function LayerCell({ layer, label, isAnswering, isOpen, isNone, onOpen, children }: LayerCellProps) {
  const { t } = useTexts()
  const className = cx(isAnswering && workshopStyles.answering, (isNone || !onOpen) && workshopStyles.none)
  const content = (
    <>
      <CellLabel layer={layer} label={label} />
      <span className={workshopStyles.v}>{children}</span>
      {isAnswering ? <span className="sr">{t('answersHere')}</span> : null}
    </>
  )
  if (!onOpen) {
    return (
      <div className={className} data-layer={layer}>
        {content}
      </div>
    )
  }
  return (
    <button type="button" className={className} data-layer={layer} aria-current={isOpen || undefined} onClick={onOpen}>
      {content}
    </button>
  )
}
