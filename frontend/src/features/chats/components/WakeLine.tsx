import { CornerDownRight, Moon, TriangleAlert, Zap } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Wake } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { useDrafts } from '../hooks'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'

interface WakeLineProps {
  /** Null: not known yet. */
  wakes: readonly Wake[] | null
  /** The message is to wake nobody, whatever it says. */
  asleep: boolean
  onAsleep(asleep: boolean): void
}

/** Before sending: who will be woken, who is steered, and who cannot answer. */
export function WakeLine({ wakes, asleep, onAsleep }: WakeLineProps) {
  const { t } = useTexts()
  const of = (effect: Wake['effect']) => (wakes ?? []).filter(wake => wake.effect === effect)
  const reached = wakes?.some(wake => wake.effect !== 'cannot')
  return (
    <div className={composerStyles.wake} role="status">
      {asleep ? (
        <Line icon={<Moon className="i s" aria-hidden />}>{t('wake.chosenNone')}</Line>
      ) : (
        <>
          <Group wakes={of('wakes')} icon={<Zap className="i s" aria-hidden />} before="wake.wakes" />
          <Group
            wakes={of('steers')}
            icon={<CornerDownRight className="i s" aria-hidden />}
            before="wake.steers"
            after="wake.nextOrAfter"
          />
          <Group
            wakes={of('cannot')}
            icon={<TriangleAlert className="i s" aria-hidden />}
            before="wake.cannot"
            reasons
          />
          {wakes?.length === 0 ? <Line icon={<Moon className="i s" aria-hidden />}>{t('wake.none')}</Line> : null}
        </>
      )}
      {reached ? (
        <button type="button" className="end link" aria-pressed={asleep} onClick={() => onAsleep(!asleep)}>
          {asleep ? t('wake.letWake') : t('wake.letSleep')}
        </button>
      ) : null}
    </div>
  )
}

const Line = ({ icon, children }: { icon: ReactNode; children: ReactNode }) => (
  <>
    {icon}
    <span>{children}</span>
  </>
)

const reasonTexts: Partial<Record<string, PlainTextKey>> = {
  suspended: 'wake.reason.suspended',
  taken_down: 'wake.reason.taken_down',
  too_many_hops: 'wake.reason.too_many_hops',
}

function reasonOf({ reason }: Wake, t: Texts['t']): string | null {
  const key = reason ? reasonTexts[reason] : undefined
  return key ? t(key) : (reason ?? null)
}

interface GroupProps {
  wakes: readonly Wake[]
  icon: ReactNode
  before: PlainTextKey
  after?: PlainTextKey
  reasons?: boolean
}

function Group({ wakes, icon, before, after, reasons }: GroupProps) {
  const { t } = useTexts()
  if (wakes.length === 0) return null
  return (
    <>
      {icon}
      <span>{t(before)}</span>
      {wakes.map(wake => (
        <Chip key={wake.agent_id} agentId={wake.agent_id} reason={reasons ? reasonOf(wake, t) : null} />
      ))}
      {after ? <span>{t(after)}</span> : null}
    </>
  )
}

function Chip({ agentId, reason }: { agentId: string; reason?: string | null | undefined }) {
  const { chatId, who } = useChat()
  const { t } = useTexts()
  const isApplied = useDrafts(chatId).some(draft => draft.agent_id === agentId && draft.applied)
  const name = who(agentId)?.name ?? t('agent')
  return (
    <span className={cx(composerStyles.chip, composerStyles.readOnly)} title={reason ?? undefined}>
      <Avatar id={agentId} name={name} avatar={who(agentId)?.avatar} square size="tiny" />
      {name}
      <LayerIcon layer={isApplied ? 'applied' : 'production'} />
      {reason ? <span className="faint">{reason}</span> : null}
    </span>
  )
}
