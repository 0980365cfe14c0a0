import { LockKeyholeOpen, X } from 'lucide-react'
import { useState } from 'react'
import type { AgentRow, SpecContent } from '@/api'
import { errorText } from '@/lib/errors'
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

/** The lock was lost, the text was not: it can be read, offered as a suggestion, or put back. */
export function LostBanner({ lost, agent, workshop, actions }: LostBannerProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const [isOffering, setOffering] = useState(false)
  const offer = async (note: string) => {
    const isMade = await actions.offer(lost, note)
    if (isMade) workshop.forgetLost()
    return isMade
  }
  return (
    <>
      <Banner bad>
        <LockKeyholeOpen className="i" aria-hidden />
        <span className="grow">
          <b>{lost.by ? t('lostTo', { name: lost.by }) : errorText(lost.code)}</b> {t('textSafe')}
        </span>
        <IconButton small label={t('forgetText')} onClick={workshop.forgetLost}>
          <X className="i s" />
        </IconButton>
        <span className={workshopStyles.buttons}>
          <Button size="xs" onClick={() => setOpen(true)}>
            {t('seeMyText')}
          </Button>
          {canSuggest(agent) ? (
            <Button size="xs" onClick={() => setOffering(true)}>
              {t('offerText')}
            </Button>
          ) : null}
        </span>
      </Banner>
      <Dialog open={isOpen} onOpenChange={setOpen} title={t('myText')} className={dialogStyles.wide}>
        <MyText content={lost.content} workshop={workshop} onDone={() => setOpen(false)} />
      </Dialog>
      <SuggestDialog
        open={isOffering}
        onOpenChange={setOffering}
        title={t('offerTitle', { name: agent.actor.name })}
        hint={t('offerHint')}
        before={workshop.production}
        after={lost.content}
        isBusy={actions.doing === 'doing.suggesting'}
        onSend={offer}
      />
    </>
  )
}

interface MyTextProps {
  content: SpecContent
  workshop: Workshop
  onDone(): void
}

/** A text beside the one that stands there now: to read, to copy, to put back. */
export function MyText({ content, workshop, onDone }: MyTextProps) {
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
