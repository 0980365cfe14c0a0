import type { ReactNode } from 'react'
import { type ActorRow, type AgentRow, usePendingSuggestions } from '@/api'
import { type Layer, LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatShortDate, formatTime } from '@/lib/time'
import { PathLink } from '@/ui/PathLink'
import type { Workshop } from './draftSession'
import workshopStyles from './Workshop.module.css'

/** `rebase`: what a newer production changed, beside what is written here. */
export type View = 'write' | 'production' | 'applied' | 'rebase'

interface LayerBarProps {
  agent: AgentRow
  workspaceId: string
  /** Where the suggestions for this agent are. */
  pendingPath: string
  workshop: Workshop
  nameOf(id: string): string
  me: ActorRow
  view: View
  onView(view: View): void
  onGo(path: string): void
}

/** Production, applied here, editing, suggestions: label above value. The cell that answers in this chat is filled. */
export function LayerBar(props: LayerBarProps) {
  const { agent, workshop, nameOf, me, view, onView } = props
  const { t } = useTexts()
  const { draft, applied, writer } = workshop
  // Also while this person writes it in another tab.
  const isMine = workshop.save !== null
  const until = isMine ? draft?.lock_expires_at : writer?.until
  return (
    <section className={workshopStyles.layerBar} aria-label={t('layers')}>
      <Cell
        layer="production"
        label={t('production')}
        isLive={!applied}
        isOpen={view === 'production'}
        onOpen={() => onView('production')}
      >
        v{agent.spec.number} <small>{formatShortDate(agent.spec.created_at)}</small>
      </Cell>
      <Cell
        layer="applied"
        label={t('appliedHere')}
        isLive={applied !== null}
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
      </Cell>
      <Cell
        layer="writing"
        label={t('editing')}
        isLive={false}
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
      </Cell>
      <Suggestions {...props} />
    </section>
  )
}

function Suggestions({ agent, workspaceId, pendingPath, onGo }: LayerBarProps) {
  const { t } = useTexts()
  const pending = usePendingSuggestions(workspaceId, agent.actor.id).data
  const n = pending?.count ?? 0
  return (
    <PathLink className={cx(n === 0 && workshopStyles.none)} data-layer="suggestion" path={pendingPath} onGo={onGo}>
      <Label layer="suggestion" label={t('suggestionsOf')} />
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

const Label = ({ layer, label }: { layer: Layer; label: string }) => (
  <span className={workshopStyles.t}>
    <LayerIcon layer={layer} />
    {label}
  </span>
)

interface CellProps {
  layer: Layer
  label: string
  isLive: boolean
  isOpen: boolean
  isNone?: boolean
  /** Null: there is no text behind it. */
  onOpen: (() => void) | null
  children: ReactNode
}

function Cell({ layer, label, isLive, isOpen, isNone, onOpen, children }: CellProps) {
  const { t } = useTexts()
  const className = cx(isLive && workshopStyles.live, (isNone || !onOpen) && workshopStyles.none)
  const inside = (
    <>
      <Label layer={layer} label={label} />
      <span className={workshopStyles.v}>{children}</span>
      {isLive ? <span className="sr">{t('answersHere')}</span> : null}
    </>
  )
  if (!onOpen) {
    return (
      <div className={className} data-layer={layer}>
        {inside}
      </div>
    )
  }
  return (
    <button type="button" className={className} data-layer={layer} aria-current={isOpen || undefined} onClick={onOpen}>
      {inside}
    </button>
  )
}
