import { useState } from 'react'
import { type AgentRow, type DraftRow, useVersion } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Loading } from '@/ui/Loading'
import { Segments } from '@/ui/Segments'
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

/**
 * The changes of production since the base version of the draft, or the changes of the draft. The writer merges both,
 * or keeps the draft as it is.
 */
export function RebaseView({ agent, draft, workshop, actions, onDone }: RebaseViewProps) {
  const { t } = useTexts()
  const [side, setSide] = useState<'theirs' | 'mine'>('theirs')
  const base = useVersion(agent.actor.id, draft.base_version)
  const version = `v${agent.spec.number}`
  const rebase = async (mergeProduction: boolean) => {
    if (await actions.rebase(mergeProduction)) onDone()
  }
  const busy = actions.doing === 'doing.rebasing' ? t('doing.rebasing') : null
  const buildOption = (value: 'theirs' | 'mine', layer: 'production' | 'writing', text: string) => ({
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
            buildOption('theirs', 'production', t('changedSince', { version, base: `v${draft.base_version}` })),
            buildOption('mine', 'writing', t(workshop.isMine ? 'changedByYou' : 'changedHere')),
          ]}
          onChange={setSide}
        />
        {workshop.isMine ? (
          <div className="row wrap">
            <Button tone="ink" busy={busy} onClick={() => void rebase(true)}>
              {t('bringIn', { version })}
            </Button>
            <Button blocked={Boolean(busy)} onClick={() => void rebase(false)}>
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
          before={base.data.content}
          after={side === 'theirs' ? workshop.production : workshop.content}
          layer={side === 'theirs' ? 'production' : 'writing'}
        />
      ) : (
        <Loading query={base} lines={6} />
      )}
    </>
  )
}
