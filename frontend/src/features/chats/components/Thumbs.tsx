import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { Suspense } from 'react'
import type { MessageRow, TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { IconButton } from '@/ui/Button'
import { lazy } from '@/ui/lazy'
import { canHaveThumb, getThumb, openThumbForm } from '../thumbs'
import { useChat } from './ChatContext'

const ThumbLine = lazy(() => import('./ThumbLine').then(module => ({ default: module.ThumbLine })))

interface ThumbButtonsProps {
  row: MessageRow
  /** False for a part of a reply that goes on below it, or is not complete yet. */
  isAnswer: boolean
}

/** The buttons that call an answer good or bad. */
export function ThumbButtons({ row, isAnswer }: ThumbButtonsProps) {
  const { t } = useTexts()
  const { me, findActor, toggleThumb } = useChat()
  if (!isAnswer || !toggleThumb || !canHaveThumb(row, findActor)) return null
  const mine = getThumb(row, me)
  return (
    <>
      <IconButton small label={t('goodAnswer')} aria-pressed={mine === 'up'} onClick={() => toggleThumb(row, 'up')}>
        <ThumbsUp className="i" />
      </IconButton>
      <IconButton small label={t('badAnswer')} aria-pressed={mine === 'down'} onClick={() => toggleThumb(row, 'down')}>
        <ThumbsDown className="i" />
      </IconButton>
    </>
  )
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
