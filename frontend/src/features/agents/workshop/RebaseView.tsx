import { useState } from 'react'
import { type AgentRow, type DraftRow, useVersion } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Mark } from '@/ui/Mark'
import { Skeleton } from '@/ui/Skeleton'
import { contentOf } from '../content'
import type { DraftActions } from './actions'
import { DiffView } from './DiffView'
import type { Workshop } from './session'

interface RebaseViewProps {
  agent: AgentRow
  draft: DraftRow
  workshop: Workshop
  actions: DraftActions
  onDone(): void
}

/** What production changed since the draft was begun, beside what the draft changes; then one of two ways on. Nothing is overwritten unseen. */
export function RebaseView({ agent, draft, workshop, actions, onDone }: RebaseViewProps) {
  const { t } = useTexts()
  const [side, setSide] = useState<'theirs' | 'mine'>('theirs')
  const base = useVersion(agent.actor.id, draft.base_version)
  const version = `v${agent.spec.number}`
  const go = async (merge: boolean) => {
    if (await actions.rebase(merge)) onDone()
  }
  const busy = actions.doing === 'doing.rebasing' ? t('doing.rebasing') : null
  const tab = (value: 'theirs' | 'mine', layer: 'production' | 'writing', label: string) => (
    <button type="button" aria-pressed={side === value} onClick={() => setSide(value)}>
      <Mark layer={layer} />
      {label}
    </button>
  )
  return (
    <>
      <div className="rebase">
        <fieldset className="seg" aria-label={t('view')}>
          {tab('theirs', 'production', t('changedSince', { version, base: `v${draft.base_version}` }))}
          {tab('mine', 'writing', t(workshop.isMine ? 'changedByYou' : 'changedHere'))}
        </fieldset>
        {workshop.isMine ? (
          <div className="row wrap">
            <Button tone="ink" busy={busy} onClick={() => void go(true)}>
              {t('bringIn', { version })}
            </Button>
            <Button blocked={Boolean(busy)} onClick={() => void go(false)}>
              {t('keepMine')}
            </Button>
          </div>
        ) : (
          <span className="faint xs">{t('rebaseByWriter')}</span>
        )}
      </div>
      {base.error ? (
        <p className="nodiff">{textOfError(base.error)}</p>
      ) : base.data ? (
        <DiffView
          key={side}
          before={contentOf(base.data)}
          after={side === 'theirs' ? workshop.production : workshop.content}
          layer={side === 'theirs' ? 'production' : 'writing'}
        />
      ) : (
        <Skeleton lines={6} label={t('loading')} />
      )}
    </>
  )
}
