import { LockKeyholeOpen, X } from 'lucide-react'
import { useState } from 'react'
import type { AgentRow, SpecContent } from '@/api'
import { getCodeText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { copyText } from '@/ui/copy'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { showToast } from '@/ui/toast'
import type { DraftActions } from './actions'
import { Banner } from './Banners'
import { DiffView } from './DiffView'
import type { LostText } from './draftBackup'
import type { Workshop } from './draftSession'
import { canSuggest } from './Forms'
import { SuggestDialog } from './SuggestDialog'
import workshopStyles from './Workshop.module.css'

interface LostBannerProps {
  lost: LostText
  agent: AgentRow
  workshop: Workshop
  actions: DraftActions
}

/** A text could not be stored, usually because the lock was lost. It can be read, suggested, put back, or dropped. */
export function LostBanner({ lost, agent, workshop, actions }: LostBannerProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const [isSuggesting, setSuggesting] = useState(false)
  const suggest = async (note: string) => {
    const isSent = await actions.suggestLostText(lost, note)
    if (isSent) workshop.dropLostText()
    return isSent
  }
  return (
    <>
      <Banner bad>
        <LockKeyholeOpen className="i" aria-hidden />
        <span className="grow">
          <b>{lost.by ? t('lostTo', { name: lost.by }) : getCodeText(lost.code)}</b> {t('textSafe')}
        </span>
        <IconButton small label={t('forgetText')} onClick={workshop.dropLostText}>
          <X className="i s" />
        </IconButton>
        <span className={workshopStyles.buttons}>
          <Button size="xs" onClick={() => setOpen(true)}>
            {t('seeMyText')}
          </Button>
          {canSuggest(agent) ? (
            <Button size="xs" onClick={() => setSuggesting(true)}>
              {t('offerText')}
            </Button>
          ) : null}
        </span>
      </Banner>
      <Dialog open={isOpen} onOpenChange={setOpen} title={t('myText')} className={dialogStyles.wide}>
        <RestorableText content={lost.content} workshop={workshop} onDone={() => setOpen(false)} />
      </Dialog>
      <SuggestDialog
        open={isSuggesting}
        onOpenChange={setSuggesting}
        title={t('offerTitle', { name: agent.actor.name })}
        hint={t('offerHint')}
        before={workshop.production}
        after={lost.content}
        isBusy={actions.doing === 'doing.suggesting'}
        onSend={suggest}
      />
    </>
  )
}

interface RestorableTextProps {
  content: SpecContent
  workshop: Workshop
  onDone(): void
}

/** A text as a diff against the current one, with buttons to copy it and to put it back. */
export function RestorableText({ content, workshop, onDone }: RestorableTextProps) {
  const { t } = useTexts()
  const copy = async () => showToast((await copyText(content.prompt)) ? t('copied') : t('copyFailed'))
  const putBack = () => {
    workshop.edit(content)
    onDone()
  }
  return (
    <div className="col gap">
      <div className={workshopStyles.latetext}>
        <DiffView before={workshop.content} after={content} layer="writing" />
      </div>
      <div className="row endrow">
        <Button onClick={() => void copy()}>{t('copy')}</Button>
        {workshop.isMine ? (
          <Button tone="ink" onClick={putBack}>
            {t('putBack')}
          </Button>
        ) : null}
      </div>
    </div>
  )
}
