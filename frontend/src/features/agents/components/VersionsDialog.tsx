import { type ActorRow, type AgentRow, type SpecRow, useVersions } from '@/api'
import { useTexts } from '@/lib/language'
import { fullTime, shortDate } from '@/lib/time'
import { Dialog } from '@/ui/Dialog'
import { Fold } from '@/ui/Fold'
import { Mark } from '@/ui/Mark'
import { Skeleton } from '@/ui/Skeleton'

interface VersionListProps {
  agent: AgentRow
  who(id: string): ActorRow | null
}

/** Every version of an agent, newest first, with who saved it and why. */
export function VersionList({ agent, who }: VersionListProps) {
  const { t } = useTexts()
  const versions = useVersions(agent.actor.id)
  if (!versions.data) return <Skeleton lines={4} label={t('loading')} />
  return (
    <ul className="versions">
      {versions.data.map(spec => (
        <Version key={spec.id} spec={spec} isNow={spec.id === agent.spec.id} by={who(spec.author_id)?.name ?? ''} />
      ))}
    </ul>
  )
}

function Version({ spec, isNow, by }: { spec: SpecRow; isNow: boolean; by: string }) {
  const { t } = useTexts()
  return (
    <li>
      <Fold
        state={
          <span title={fullTime(spec.created_at)}>
            {by} · {shortDate(spec.created_at)}
          </span>
        }
        head={
          <>
            <b className="num">v{spec.number}</b>
            {isNow ? (
              <span className="badge" data-layer="production">
                <Mark layer="production" />
                {t('production')}
              </span>
            ) : null}
            <span className="cut muted">
              {spec.message || t(spec.origin === 'created' ? 'originCreated' : 'noMessage')}
            </span>
          </>
        }
      >
        <pre className="b">{spec.prompt || t('emptyPrompt')}</pre>
      </Fold>
    </li>
  )
}

interface VersionsDialogProps extends VersionListProps {
  open: boolean
  onOpenChange(open: boolean): void
}

export function VersionsDialog({ open, onOpenChange, agent, who }: VersionsDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('versionsOf', { name: agent.actor.name })}
      className="wide"
    >
      <VersionList agent={agent} who={who} />
    </Dialog>
  )
}
