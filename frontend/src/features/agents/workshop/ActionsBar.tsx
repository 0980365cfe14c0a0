import { Ellipsis, PenLine, Play } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AgentRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { formatShortcut } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Menu, MenuItem } from '@/ui/Menu'
import { isSameContent } from '../content'
import type { Doing, DraftActions } from './actions'
import { DraftSnapshots } from './DraftSnapshots'
import type { Workshop } from './draftSession'
import { canDiscardAny, canSave, canSuggest, canWrite } from './Forms'
import { SuggestDialog } from './SuggestDialog'
import workshopStyles from './Workshop.module.css'

interface ActionsBarProps {
  chatId: string
  agent: AgentRow
  me: string
  workshop: Workshop
  actions: DraftActions
  writerName: string
  onEdit(): void
  onApply(): void
  onSave(): void
}

/** The buttons of the workshop, each in the colour of the layer that it writes to. */
export function ActionsBar(props: ActionsBarProps) {
  if (props.workshop.isMine) return <HolderBar {...props} />
  return <ReaderBar {...props} />
}

function HolderBar(props: ActionsBarProps) {
  const { t } = useTexts()
  const { agent, workshop, actions, onApply, onSave } = props
  const [isSuggesting, setSuggesting] = useState(false)
  const { doing } = actions
  const isApplied = workshop.applied !== null && isSameContent(workshop.applied, workshop.content)
  const isProduction = isSameContent(workshop.production, workshop.content)
  const version = `v${agent.spec.number}`
  const getBusyText = (action: Doing) => (doing === action ? t(action) : null)
  return (
    <footer className={workshopStyles.actsBar}>
      <SaveState workshop={workshop} />
      <span className="end">
        <MoreMenu {...props}>
          {canSave(agent) && canSuggest(agent) && !isProduction ? (
            <MenuItem onSelect={() => setSuggesting(true)}>
              <LayerIcon layer="suggestion" />
              {t('suggestDots')}
            </MenuItem>
          ) : null}
          <MenuItem onSelect={() => void actions.release()}>{t('closeDraft')}</MenuItem>
        </MoreMenu>
        <Button tone="flat" busy={getBusyText('doing.discarding')} onClick={() => void actions.discard()}>
          {t('discard')}
        </Button>
        {canSave(agent) ? (
          <Button
            tone="ink"
            blocked={isProduction ? t('nothingToSave', { version }) : false}
            title={formatShortcut('version.save')}
            onClick={onSave}
          >
            {t('saveDots')}
          </Button>
        ) : canSuggest(agent) ? (
          <Button
            tone="violet"
            blocked={isProduction ? t('nothingToSuggest', { version }) : false}
            onClick={() => setSuggesting(true)}
          >
            {t('suggestDots')}
          </Button>
        ) : null}
        <Button
          tone="amber"
          busy={getBusyText('doing.applying')}
          blocked={isApplied ? t('alreadyApplied') : false}
          title={formatShortcut('draft.apply')}
          onClick={onApply}
        >
          <Play className="i s" aria-hidden />
          {t('applyHere')}
        </Button>
      </span>
      <SuggestDialog
        open={isSuggesting}
        onOpenChange={setSuggesting}
        title={t('suggestTitle', { name: agent.actor.name })}
        hint={t('suggestHint')}
        before={workshop.production}
        after={workshop.content}
        isBusy={doing === 'doing.suggesting'}
        onSend={actions.suggest}
      />
    </footer>
  )
}

/** The menu of rare actions. */
function MoreMenu({ chatId, workshop, children }: ActionsBarProps & { children?: ReactNode }) {
  const { t } = useTexts()
  const [isShowingSnapshots, setShowingSnapshots] = useState(false)
  if (!workshop.draft) return null
  return (
    <>
      <Menu
        label={t('more')}
        align="end"
        trigger={
          <IconButton label={t('more')}>
            <Ellipsis className="i" />
          </IconButton>
        }
      >
        {children}
        <MenuItem onSelect={() => setShowingSnapshots(true)}>{t('draftSnapshots')}</MenuItem>
      </Menu>
      <DraftSnapshots
        chatId={chatId}
        draft={workshop.draft}
        workshop={workshop}
        open={isShowingSnapshots}
        onOpenChange={setShowingSnapshots}
      />
    </>
  )
}

function SaveState({ workshop }: { workshop: Workshop }) {
  const { t } = useTexts()
  const status = workshop.save?.status ?? 'saved'
  return (
    <span className={cx(workshopStyles.status, 'only-wide')} role="status">
      {t(`autosave.${status}`)}
    </span>
  )
}

function ReaderBar(props: ActionsBarProps) {
  const { t } = useTexts()
  const { agent, me, workshop, actions, writerName, onEdit } = props
  const { writer, draft } = workshop
  if (!canWrite(agent)) return null
  const status = writer
    ? t('whenFree', { name: writerName })
    : workshop.applied
      ? t('answersDraft', { apply: `r${draft?.apply_count}` })
      : t('answersVersion', { version: `v${agent.spec.number}` })
  const mayDiscard = draft !== null && !writer && (draft.created_by === me || canDiscardAny(agent))
  return (
    <footer className={workshopStyles.actsBar}>
      <span className={cx(workshopStyles.status, 'grow')}>{status}</span>
      <span className="end">
        <MoreMenu {...props} />
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
          blocked={writer ? status : false}
          busy={actions.doing === 'doing.opening' ? t('doing.opening') : null}
          onClick={onEdit}
        >
          <PenLine className="i s" aria-hidden />
          {draft ? t('goOnWriting') : t('edit')}
        </Button>
      </span>
    </footer>
  )
}
