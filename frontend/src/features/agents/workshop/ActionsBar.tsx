import { PenLine, Play } from 'lucide-react'
import type { AgentRow } from '@/api'
import { chord } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { isSame } from '../content'
import type { Doing, DraftActions } from './actions'
import { canSave, canWrite } from './Forms'
import type { Workshop } from './session'

interface ActionsBarProps {
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
  writerName: string
  onSave(): void
}

/** What can be done now, each button in the colour of the layer it writes to. */
export function ActionsBar(props: ActionsBarProps) {
  if (props.workshop.isMine) return <HolderBar {...props} />
  return <ReaderBar {...props} />
}

function HolderBar({ agent, workshop, actions, onSave }: ActionsBarProps) {
  const { t } = useTexts()
  const { doing } = actions
  const isApplied = workshop.applied !== null && isSame(workshop.applied, workshop.content)
  const isProduction = isSame(workshop.production, workshop.content)
  const busy = (what: Doing) => (doing === what ? t(what) : null)
  return (
    <footer className="acts-bar">
      <SaveState workshop={workshop} />
      <span className="end">
        <Button tone="flat" busy={busy('doing.discarding')} onClick={() => void actions.discard()}>
          {t('discard')}
        </Button>
        {canSave(agent) ? (
          <Button
            tone="ink"
            blocked={isProduction ? t('nothingToSave', { version: `v${agent.spec.number}` }) : false}
            title={chord('S')}
            onClick={onSave}
          >
            {t('saveDots')}
          </Button>
        ) : null}
        <Button
          tone="apply"
          busy={busy('doing.applying')}
          blocked={isApplied ? t('alreadyApplied') : false}
          title={chord('↵')}
          onClick={() => void actions.apply()}
        >
          <Play className="i s" aria-hidden />
          {t('applyHere')}
        </Button>
      </span>
    </footer>
  )
}

function SaveState({ workshop }: { workshop: Workshop }) {
  const { t } = useTexts()
  const status = workshop.save?.status ?? 'saved'
  return (
    <span className="say only-wide" role="status">
      {t(`autosave.${status}`)}
    </span>
  )
}

function ReaderBar({ agent, workshop, actions, writerName }: ActionsBarProps) {
  const { t } = useTexts()
  const { writer, draft } = workshop
  if (!canWrite(agent)) return null
  const says = writer
    ? t('whenFree', { name: writerName })
    : workshop.applied
      ? t('answersDraft', { apply: `r${draft?.apply_count}` })
      : t('answersVersion', { version: `v${agent.spec.number}` })
  const mayDiscard = draft !== null && !writer
  return (
    <footer className="acts-bar">
      <span className="say grow">{says}</span>
      <span className="end">
        {mayDiscard ? (
          <Button
            tone="flat"
            busy={actions.doing === 'doing.discarding' ? t('doing.discarding') : null}
            onClick={() => void actions.discard()}
          >
            {t('discard')}
          </Button>
        ) : null}
        <Button
          tone={writer ? 'plain' : 'ink'}
          blocked={writer ? says : false}
          busy={actions.doing === 'doing.opening' ? t('doing.opening') : null}
          onClick={() => void actions.take()}
        >
          <PenLine className="i s" aria-hidden />
          {draft ? t('goOnWriting') : t('edit')}
        </Button>
      </span>
    </footer>
  )
}
