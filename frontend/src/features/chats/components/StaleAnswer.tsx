import { History, RotateCcw } from 'lucide-react'
import { useCallback } from 'react'
import type { TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { type ChatState, isActive, useChatSelector } from '@/realtime'
import { Button } from '@/ui/Button'
import { useChat } from './ChatContext'
import styles from './Edits.module.css'

interface StaleAnswerProps {
  answer: TextMessageRow
  /** The message that was edited since the agent read it. */
  editedId: string
}

/** Says that an answer is about a text that was edited since, and lets the agent answer again. */
export function StaleAnswer({ answer, editedId }: StaleAnswerProps) {
  const { t } = useTexts()
  const { chatId, findActor, findMessage, askOtherAnswer } = useChat()
  const isAnsweredAgain = useChatSelector(
    chatId,
    useCallback((chat: ChatState) => hasLaterAnswer(chat, answer, editedId), [answer, editedId]),
  )
  const name = findActor(findMessage(editedId)?.author_id)?.name
  const agent = findActor(answer.author_id)
  const runId = answer.run_id
  return (
    <div className={styles.stale}>
      <History className="i s" aria-hidden />
      <span>{name ? t('edits.staleBy', { name }) : t('edits.stale')}</span>
      {isAnsweredAgain || !askOtherAnswer || !runId || agent?.is_taken_down ? null : (
        <Button size="xs" onClick={() => askOtherAnswer(runId)}>
          <RotateCcw className="i s" aria-hidden />
          {t('edits.answerAgain')}
        </Button>
      )}
    </div>
  )
}

/** Returns whether the agent has answered the edited message once more, or is about to. */
function hasLaterAnswer(chat: ChatState, answer: TextMessageRow, editedId: string): boolean {
  const isNext = [...chat.rows.run.values()].some(
    run => run.trigger_id === editedId && run.agent_id === answer.author_id && isActive(run),
  )
  const editedAt = chat.rows.message.get(editedId)?.edited_at
  return (
    isNext ||
    chat.log.some(
      row =>
        row.type === 'TEXT_MESSAGE' &&
        row.seq > answer.seq &&
        row.author_id === answer.author_id &&
        !row.payload.answers_earlier_text &&
        Boolean(editedAt && row.created_at > editedAt) &&
        (row.payload.answers === editedId || row.payload.answered_ids?.includes(editedId)),
    )
  )
}
