import { SmilePlus } from 'lucide-react'
import { Suspense, useCallback, useRef, useState } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'
import { pressedMessage } from '../longPress'
import { getChoiceKey, openChoice } from '../reactions'
import { useChat } from './ChatContext'

const ReactionLine = lazy(() => import('./ReactionLine').then(module => ({ default: module.ReactionLine })))
const ReactionPicker = lazy(() => import('./ReactionPicker').then(module => ({ default: module.ReactionPicker })))
const EmojiChoice = lazy(() => import('./ReactionPicker').then(module => ({ default: module.EmojiChoice })))

/** Below the text of a message: with which emojis people and agents have reacted. `rows`: all that are shown as the message. */
export function Reactions({ rows }: { rows: readonly MessageRow[] }) {
  if (!rows.some(row => row.reactions)) return null
  return (
    <Suspense fallback={null}>
      <ReactionLine rows={rows} />
    </Suspense>
  )
}

interface ReactButtonProps {
  row: MessageRow
  place: 'toolbar' | 'line'
  className?: string | undefined
}

/** The button that opens the choice of emojis, whose code is loaded on first use. */
export function ReactButton({ row, place, className }: ReactButtonProps) {
  const { t } = useTexts()
  const button = useRef<HTMLButtonElement>(null)
  const key = getChoiceKey(place, row.id)
  const isOpen = useSelector(
    openChoice,
    useCallback(open => open === key, [key]),
  )
  const [isRequested, setRequested] = useState(isOpen)
  if (isOpen && !isRequested) setRequested(true)
  const open = useCallback((isOpen: boolean) => openChoice.set(isOpen ? key : null), [key])
  const trigger = (
    <IconButton
      ref={button}
      small
      label={t('react')}
      className={className}
      aria-haspopup="dialog"
      onClick={isRequested ? undefined : () => open(true)}
    >
      <SmilePlus className="i" aria-hidden />
    </IconButton>
  )
  if (!isRequested) return trigger
  return (
    <Suspense fallback={trigger}>
      <ReactionPicker
        row={row}
        trigger={trigger}
        isOpen={isOpen}
        onOpenChange={open}
        // The toolbar is hidden once the choice is closed.
        onClosed={() => button.current?.closest<HTMLElement>('[data-message]')?.focus({ preventScroll: true })}
      />
    </Suspense>
  )
}

/** The choice of emojis in the sheet of actions on a touch screen. `shownId`: the id with which the message is shown. */
export function SheetReactions({ row, shownId }: { row: MessageRow; shownId: string }) {
  const { toggleReaction } = useChat()
  const isPressed = useSelector(
    pressedMessage,
    useCallback(id => id === shownId, [shownId]),
  )
  if (!isPressed || !toggleReaction) return null
  return (
    <Suspense fallback={null}>
      <EmojiChoice row={row} isInSheet onChosen={emoji => toggleReaction(row, emoji)} />
    </Suspense>
  )
}
