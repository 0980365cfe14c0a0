import { useState } from 'react'
import { type AgentRow, type DraftRow, useVersion } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import { Segments } from '@/ui/Segments'
import { contentOf } from '../content'
import type { DraftActions } from './actions'
import { DiffView } from './DiffView'
import type { Workshop } from './draftSession'
import workshopStyles from './Workshop.module.css'

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
  const option = (value: 'theirs' | 'mine', layer: 'production' | 'writing', text: string) => ({
    value,
    label: (
      <>
        <LayerIcon layer={layer} />
        {text}
      </>
    ),
  })
  return (
    <>
      <div className={workshopStyles.rebase}>
        <Segments
          label={t('view')}
          value={side}
          options={[
            option('theirs', 'production', t('changedSince', { version, base: `v${draft.base_version}` })),
            option('mine', 'writing', t(workshop.isMine ? 'changedByYou' : 'changedHere')),
          ]}
          onChange={setSide}
        />
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
      {base.data ? (
        <DiffView
          key={side}
          before={contentOf(base.data)}
          after={side === 'theirs' ? workshop.production : workshop.content}
          layer={side === 'theirs' ? 'production' : 'writing'}
        />
      ) : (
        <Loading query={base} lines={6} />
      )}
    </>
  )
}
