import { Suspense } from 'react'
import type { MessageRow } from '@/api'
import { useSelector } from '@/lib/observable'
import { lazy } from '@/ui/lazy'
import { pressedMessage } from '../longPress'
import { openChoice } from '../reactions'

const ReactionLine = lazy(() => import('./ReactionLine').then(module => ({ default: module.ReactionLine })))
const ReactionPicker = lazy(() => import('./ReactionPicker').then(module => ({ default: module.ReactionPicker })))
const SheetEmojis = lazy(() => import('./ReactionPicker').then(module => ({ default: module.SheetEmojis })))

/** Below the text of a message: with which emojis people and agents have reacted. `rows`: all that are shown as the message. */
export function Reactions({ rows }: { rows: readonly MessageRow[] }) {
  if (!rows.some(row => row.reactions)) return null
  return (
    <Suspense fallback={null}>
      <ReactionLine rows={rows} />
    </Suspense>
  )
}

const same = <T,>(value: T) => value

/** The open choice of emojis of a chat: in a popover, or in the sheet of actions of the message that was pressed long. */
export function ReactionChoice() {
  const choice = useSelector(openChoice, same)
  const pressed = useSelector(pressedMessage, same)
  return (
    <Suspense fallback={null}>
      {choice ? <ReactionPicker {...choice} /> : null}
      {pressed ? <SheetEmojis message={pressed} /> : null}
    </Suspense>
  )
}
