import { Copy, LockKeyholeOpen, PenLine, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { ActorRow } from '@/api'
import { errorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { copyText } from '@/ui/copy'
import { Dialog } from '@/ui/Dialog'
import { Face } from '@/ui/Face'
import { say } from '@/ui/Toasts'
import type { Lost } from '../autosave'
import type { DraftActions } from './actions'

/** Somebody else is writing: one reads along, live. */
export function WriterBanner({ writer }: { writer: ActorRow }) {
  const { rich } = useTexts()
  return (
    <Banner layer="writing">
      <Face id={writer.id} name={writer.name} square={writer.kind === 'agent'} />
      <span className="grow">{rich('isWriting', { name: writer.name })}</span>
    </Banner>
  )
}

interface LostBannerProps {
  lost: Lost
  onForget(): void
}

/** The hold is gone; the words are not. */
export function LostBanner({ lost, onForget }: LostBannerProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const copy = async () => say((await copyText(lost.content.prompt)) ? t('copied') : t('copyFailed'))
  return (
    <>
      <Banner bad>
        <LockKeyholeOpen className="i" aria-hidden />
        <span className="grow">
          <b>{lost.by ? t('lostTo', { name: lost.by }) : errorText(lost.code)}</b> {t('textSafe')}
        </span>
        <Button size="xs" onClick={() => setOpen(true)}>
          {t('seeMyText')}
        </Button>
        <Button size="xs" onClick={() => void copy()}>
          <Copy className="i s" aria-hidden />
          {t('copy')}
        </Button>
        <IconButton small label={t('dismiss')} onClick={onForget}>
          <X className="i s" />
        </IconButton>
      </Banner>
      <Dialog open={isOpen} onOpenChange={setOpen} title={t('myText')} className="wide">
        <pre className="mytext">{lost.content.prompt}</pre>
      </Dialog>
    </>
  )
}

interface ElsewhereBannerProps {
  elsewhere: NonNullable<DraftActions['elsewhere']>
  onGo(chatId: string): void
}

/** One draft per person: the other one stands in the way. */
export function ElsewhereBanner({ elsewhere, onGo }: ElsewhereBannerProps) {
  const { t, rich } = useTexts()
  return (
    <Banner bad>
      <PenLine className="i" aria-hidden />
      <span className="grow">
        {rich('writingElsewhere', { agent: elsewhere.agentName, chat: elsewhere.chatTitle })}
      </span>
      <Button size="xs" onClick={() => onGo(elsewhere.chatId)}>
        {t('goThere')}
      </Button>
    </Banner>
  )
}

function Banner({ children, layer, bad }: { children: ReactNode; layer?: 'writing'; bad?: boolean }) {
  return (
    <div className="bannerbox">
      <div className={bad ? 'banner bad' : 'banner'} data-layer={layer} role={bad ? 'alert' : 'status'}>
        {children}
      </div>
    </div>
  )
}
