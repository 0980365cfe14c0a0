import { ArrowRight, MessageCircleQuestion } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { ApprovalAskedRow, Decision, Question } from '@/api'
import { showHiddenCharacters } from '@/lib/hiddenCharacters'
import { areSingleKeysOn } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import styles from './ApprovalCard.module.css'
import { WhoDecides } from './ApprovalParts'
import { useChat } from './ChatContext'

const MAX_ANSWER = 4000

interface QuestionCardProps {
  row: ApprovalAskedRow
  question: Question
  /** Null if the reader may not answer. */
  onDecide: ((decision: Decision) => void) | null
  isDeciding: boolean
  expiry: ReactNode
}

/** A question of an agent. One click, or the number of a choice on the keyboard, answers it. */
export function QuestionCard({ row, question, onDecide, isDeciding, expiry }: QuestionCardProps) {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const { target_id: agentId, target_name: agentName, person_id: personId, person_name: personName } = row.payload
  const [answer, setAnswer] = useState('')
  const agent = findActor(agentId)?.name ?? agentName
  const person = findActor(personId ?? null)?.name ?? personName
  const isForMe = personId === me
  const choose = (choice: number) => onDecide?.({ decision: 'answered', choice })
  useNumberKeys(isForMe && !isDeciding, question.choices.length, choose)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (answer.trim()) onDecide?.({ decision: 'answered', answer })
  }
  return (
    <section className={styles.card} aria-label={t('approval.questionLabel', { name: agent })} aria-busy={isDeciding}>
      <div className={styles.head}>
        <span className={styles.icon}>
          <MessageCircleQuestion className="i" aria-hidden />
        </span>
        <span className={styles.title}>
          <b className={styles.question}>{showHiddenCharacters(question.text)}</b>
          <small>
            {isForMe ? t('approval.asksYou', { name: agent }) : t('approval.asksPerson', { name: agent, person })}
          </small>
        </span>
        {expiry}
      </div>
      {question.choices.length > 0 ? (
        <ol className={styles.choices}>
          {question.choices.map((choice, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: choices have no other name, and never change
            <li key={index}>
              <button type="button" disabled={!onDecide || isDeciding} onClick={() => choose(index)}>
                <kbd className={blocks.key}>{index + 1}</kbd>
                <span>
                  <b>{showHiddenCharacters(choice.label)}</b>
                  {choice.description ? <small>{showHiddenCharacters(choice.description)}</small> : null}
                </span>
                <ArrowRight className="i s" aria-hidden />
              </button>
            </li>
          ))}
        </ol>
      ) : null}
      {question.allow_free_answer && onDecide ? (
        <form className={styles.free} onSubmit={submit}>
          <input
            className={fieldStyles.input}
            aria-label={t('approval.ownAnswer')}
            placeholder={question.choices.length > 0 ? t('approval.orOwnAnswer') : t('approval.ownAnswer')}
            value={answer}
            maxLength={MAX_ANSWER}
            onChange={event => setAnswer(event.target.value)}
          />
          <Button type="submit" busy={isDeciding && t('approval.answer')} blocked={!answer.trim()}>
            {t('approval.answer')}
          </Button>
        </form>
      ) : null}
      {onDecide && isForMe ? null : (
        <div className={styles.actions}>
          <WhoDecides payload={row.payload} />
        </div>
      )}
    </section>
  )
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/**
 * Calls `choose` for the keys 1 to `count` (at most 9), if single keys are shortcuts, unless the person types somewhere or a
 * dialog is open. The effect runs after each render, because `choose` is a new function then.
 */
function useNumberKeys(isEnabled: boolean, count: number, choose: (index: number) => void): void {
  useEffect(() => {
    if (!isEnabled) return
    const onKey = (event: KeyboardEvent) => {
      const index = Number(event.key) - 1
      const isChoice = Number.isInteger(index) && index >= 0 && index < count && event.key.length === 1
      if (!isChoice || !areSingleKeysOn() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
        return
      if (isTyping(event.target) || document.querySelector('dialog[open], [role="dialog"]')) return
      event.preventDefault()
      choose(index)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
