import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { Suspense } from 'react'
import type { MessageRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { lazy } from '@/ui/lazy'
import { canHaveThumb, getThumb, openThumbForm } from '../thumbs'
import { useChat } from './ChatContext'
import type { MessageAction } from './MessageParts'

const ThumbLine = lazy(() => import('./ThumbLine').then(module => ({ default: module.ThumbLine })))

/**
 * Lists the actions that call an answer good or bad. `isAnswer`: false for a part of a reply that goes on below it, or is not
 * complete yet.
 */
export function useThumbActions(row: MessageRow, isAnswer: boolean): MessageAction[] {
  const { t } = useTexts()
  const { me, findActor, toggleThumb } = useChat()
  if (!isAnswer || !toggleThumb || !canHaveThumb(row, findActor)) return []
  const mine = getThumb(row, me)
  return [
    {
      label: t('goodAnswer'),
      icon: ThumbsUp,
      run: () => toggleThumb(row, 'up'),
      shortcut: 'message.good',
      isPressed: mine === 'up',
    },
    {
      label: t('badAnswer'),
      icon: ThumbsDown,
      run: () => toggleThumb(row, 'down'),
      shortcut: 'message.bad',
      isPressed: mine === 'down',
    },
  ]
}

/** Below an answer: who finds it good or bad, what the reader has written, and the form for it. */
export function Thumbs({ row }: { row: TextMessageRow | undefined }) {
  const openForm = useSelector(openThumbForm, id => id)
  const isFormOpen = openForm !== null && openForm === row?.id
  if (!row || !(row.thumbs || isFormOpen)) return null
  return (
    <Suspense fallback={null}>
      <ThumbLine row={row} isFormOpen={isFormOpen} />
    </Suspense>
  )
}
