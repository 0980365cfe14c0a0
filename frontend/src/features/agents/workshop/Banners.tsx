import { CircleAlert, PenLine, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ActorRow, ErrorCode } from '@/api'
import { cx } from '@/lib/cx'
import { getCodeText } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import type { DraftActions } from './actions'
import workshopStyles from './Workshop.module.css'

interface WriterBannerProps {
  writer: ActorRow
  until: string
  /** Buttons for the reader. */
  children: ReactNode
}

/** Another person is editing; the reader sees the text while it is written. */
export function WriterBanner({ writer, until, children }: WriterBannerProps) {
  const { t, rich } = useTexts()
  return (
    <Banner layer="writing">
      <Avatar id={writer.id} name={writer.name} avatar={writer.avatar} square={writer.kind === 'agent'} />
      <span className="grow">
        {rich('isWriting', { name: writer.name })}
        {sentenceGap()}
        <span className="num">{t('writingUntil', { time: formatTime(until) })}</span>
      </span>
      {children}
    </Banner>
  )
}

/** The server rejected the text; the writer can correct it. */
export const RefusedBanner = ({ code }: { code: ErrorCode }) => (
  <Banner bad>
    <CircleAlert className="i" aria-hidden />
    <span className="grow">{getCodeText(code)}</span>
  </Banner>
)

interface StaleBannerProps {
  base: number
  production: number
  /** Shows the changes; null while they are shown. */
  onCompare: (() => void) | null
}

/** Production is newer than the base version of the draft. */
export function StaleBanner({ base, production, onCompare }: StaleBannerProps) {
  const { t } = useTexts()
  return (
    <Banner>
      <TriangleAlert className="i" aria-hidden />
      <span className="grow">{t('staleBase', { version: `v${production}`, base: `v${base}` })}</span>
      {onCompare ? (
        <Button size="xs" onClick={onCompare}>
          {t('compareFirst')}
        </Button>
      ) : null}
    </Banner>
  )
}

interface ElsewhereBannerProps {
  elsewhere: NonNullable<DraftActions['elsewhere']>
  onGo(chatId: string): void
  onClose(): void
}

/** This person is editing another draft. A person can lock only one draft at a time. */
export function ElsewhereBanner({ elsewhere, onGo, onClose }: ElsewhereBannerProps) {
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
      <Button size="xs" onClick={onClose}>
        {t('closeAndEdit')}
      </Button>
    </Banner>
  )
}

interface RequestBannerProps {
  requester: ActorRow
  isBusy: boolean
  onHandOver(): void
}

/** Another person requests the draft that the reader has locked. */
export function RequestBanner({ requester, isBusy, onHandOver }: RequestBannerProps) {
  const { t, rich } = useTexts()
  return (
    <Banner layer="writing">
      <Avatar id={requester.id} name={requester.name} avatar={requester.avatar} square={false} />
      <span className="grow">{rich('wouldLikeToWrite', { name: requester.name })}</span>
      <Button size="xs" busy={isBusy ? t('doing.handingOver') : null} onClick={onHandOver}>
        {t('handOver')}
      </Button>
    </Banner>
  )
}

export function Banner({ children, layer, bad }: { children: ReactNode; layer?: 'writing'; bad?: boolean }) {
  return (
    <div className={workshopStyles.bannerbox}>
      <div
        className={bad ? cx(blocks.banner, blocks.bad) : blocks.banner}
        data-layer={layer}
        role={bad ? 'alert' : 'status'}
      >
        {children}
      </div>
    </div>
  )
}
