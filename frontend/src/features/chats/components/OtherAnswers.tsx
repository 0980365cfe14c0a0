import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { setAnswerInUse, showAnswer } from '../answerPlaces'
import { useChat } from './ChatContext'
import styles from './OtherAnswers.module.css'

interface OtherAnswersProps {
  /** The runs of all answers in this place. */
  answers: readonly string[]
  /** The run of the answer that is shown. */
  runId: string
  isUnused: boolean
  /** Whether it can be chosen: it is neither being written nor has it failed. */
  isComplete: boolean
}

/** Below an answer that has others in its place: which one is shown, and which one agents read. */
export function OtherAnswers({ answers, runId, isUnused, isComplete }: OtherAnswersProps) {
  const { t } = useTexts()
  const { chatId, askOtherAnswer } = useChat()
  const index = answers.indexOf(runId)
  const show = (step: -1 | 1) => showAnswer(answers, answers[index + step] ?? runId)
  return (
    <span className={styles.answers}>
      <IconButton small label={t('answers.previous')} aria-disabled={index <= 0} onClick={() => show(-1)}>
        <ChevronLeft className="i s" aria-hidden />
      </IconButton>
      <span className="num" role="status">
        {t('answers.place', { n: index + 1, count: answers.length })}
      </span>
      <IconButton small label={t('answers.next')} aria-disabled={index >= answers.length - 1} onClick={() => show(1)}>
        <ChevronRight className="i s" aria-hidden />
      </IconButton>
      {isUnused && isComplete ? (
        <>
          <span>{t('answers.notInUse')}</span>
          {askOtherAnswer ? (
            <button
              type="button"
              className="link"
              title={t('answers.whoReads')}
              onClick={() => void setAnswerInUse(chatId, runId)}
            >
              {t('answers.use')}
            </button>
          ) : null}
        </>
      ) : null}
    </span>
  )
}
