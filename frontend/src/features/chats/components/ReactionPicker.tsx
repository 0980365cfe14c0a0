import { Popover } from 'radix-ui'
import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import type { MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import fieldStyles from '@/ui/Field.module.css'
import menuStyles from '@/ui/Menu.module.css'
import { hasReacted, usualEmojis } from '../reactions'
import { useChat } from './ChatContext'
import styles from './Reactions.module.css'

interface ReactionPickerProps {
  row: MessageRow
  trigger: ReactNode
  isOpen: boolean
  onOpenChange(isOpen: boolean): void
  /** Moves the focus when the choice is closed. */
  onClosed(): void
}

/** A choice of emojis that opens at a button. */
export function ReactionPicker({ row, trigger, isOpen, onOpenChange, onClosed }: ReactionPickerProps) {
  const { t } = useTexts()
  const { toggleReaction } = useChat()
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.picker)}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('react')}
          onCloseAutoFocus={event => {
            event.preventDefault()
            onClosed()
          }}
        >
          <EmojiChoice
            row={row}
            onChosen={emoji => {
              toggleReaction?.(row, emoji)
              onOpenChange(false)
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

interface EmojiChoiceProps {
  row: MessageRow
  onChosen(emoji: string): void
  isInSheet?: boolean
}

const isEmoji = (text: string) => /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u.test(text)

/** The usual emojis, which the keys 1 to 8 choose, and a field for any other one. */
export function EmojiChoice({ row, onChosen, isInSheet = false }: EmojiChoiceProps) {
  const { t } = useTexts()
  const { me } = useChat()
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)
  const hintId = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isEmoji(text)) onChosen(text.trim())
    else setRefused(true)
  }
  return (
    <div className={cx(styles.choice, isInSheet && styles.inSheet)}>
      <fieldset aria-label={t('react')} onKeyDown={event => handleKey(event, onChosen)}>
        {usualEmojis.map(emoji => (
          <button
            key={emoji}
            type="button"
            className={styles.option}
            aria-label={emoji}
            aria-pressed={hasReacted(row, emoji, me)}
            onClick={() => onChosen(emoji)}
          >
            {emoji}
          </button>
        ))}
      </fieldset>
      <form onSubmit={submit}>
        <input
          className={fieldStyles.input}
          value={text}
          maxLength={32}
          aria-label={t('reactions.other')}
          placeholder={t('reactions.other')}
          aria-invalid={isRefused || undefined}
          aria-describedby={isRefused ? hintId : undefined}
          enterKeyHint="done"
          autoComplete="off"
          onChange={({ target }) => {
            setText(target.value)
            setRefused(false)
          }}
        />
        {isRefused ? (
          <p id={hintId} className="no" role="alert">
            {t('reactions.notEmoji')}
          </p>
        ) : null}
      </form>
    </div>
  )
}

/** Chooses an emoji by its number, or moves to the one beside it. */
function handleKey(event: KeyboardEvent<HTMLElement>, onChosen: (emoji: string) => void): void {
  const chosen = usualEmojis[Number(event.key) - 1]
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  if (event.ctrlKey || event.metaKey || event.altKey || !(chosen || step)) return
  event.preventDefault()
  event.stopPropagation()
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const at = buttons.indexOf(event.target as HTMLButtonElement)
  if (chosen) onChosen(chosen)
  else buttons[(at + step + buttons.length) % buttons.length]?.focus()
}
