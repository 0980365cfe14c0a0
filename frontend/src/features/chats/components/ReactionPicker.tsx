import { Popover } from 'radix-ui'
import { type FormEvent, type KeyboardEvent, useId, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import type { MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { chatState, useChatSelector } from '@/realtime'
import fieldStyles from '@/ui/Field.module.css'
import menuStyles from '@/ui/Menu.module.css'
import { hasReacted, toggleReaction, usualEmojis } from '../ownReactions'
import { chooseRowToReact, openChoice } from '../reactions'
import { findShownRows } from '../subAgents'
import { useChat } from './ChatContext'
import styles from './Reactions.module.css'

/** A choice of emojis for the message with this id, at a button, or at the top of the message below its toolbar. */
export function ReactionPicker({ id, anchor }: { id: string; anchor: Element }) {
  const { t } = useTexts()
  const { chatId, me } = useChat()
  const row = useChatSelector(chatId, chat => chat.rows.message.get(id))
  const message = anchor.closest<HTMLElement>('[data-message]')
  const place = useMemo(
    () => ({ current: anchor === message ? { getBoundingClientRect: () => getTopEnd(anchor) } : anchor }),
    [anchor, message],
  )
  if (!row) return null
  const close = () => openChoice.set(null)
  return (
    <Popover.Root open onOpenChange={close}>
      <Popover.Anchor virtualRef={place} />
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.picker)}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('react')}
          onCloseAutoFocus={event => {
            event.preventDefault()
            message?.focus({ preventScroll: true })
          }}
        >
          <EmojiChoice
            row={row}
            onChosen={emoji => {
              void toggleReaction(row, emoji, me)
              close()
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

/** Returns the place of the toolbar of a message, which is hidden while the choice is open. */
function getTopEnd(message: Element): DOMRect {
  const { right, top } = message.getBoundingClientRect()
  return new DOMRect(right - 12, top, 0, 16)
}

/** The usual emojis in the sheet of actions of a message on a touch screen. */
export function SheetEmojis({ message }: { message: HTMLElement }) {
  const { chatId, me, canReact } = useChat()
  const toolbar = message.querySelector('[role=toolbar]')
  const row = chooseRowToReact(findShownRows(chatState(chatId), message.dataset['message'] ?? ''))
  if (!canReact || !row || !toolbar) return null
  return createPortal(<UsualEmojis row={row} onChosen={emoji => void toggleReaction(row, emoji, me)} />, toolbar)
}

interface ChoiceProps {
  row: MessageRow
  onChosen(emoji: string): void
}

/** The usual emojis, which the keys 1 to 8 choose. */
function UsualEmojis({ row, onChosen }: ChoiceProps) {
  const { t } = useTexts()
  const { me } = useChat()
  return (
    <fieldset className={styles.usual} aria-label={t('react')} onKeyDown={event => handleKey(event, onChosen)}>
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
  )
}

const isEmoji = (text: string) => /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u.test(text)

/** The usual emojis, and a field for any other one. */
function EmojiChoice({ row, onChosen }: ChoiceProps) {
  const { t } = useTexts()
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)
  const hintId = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isEmoji(text)) onChosen(text.trim())
    else setRefused(true)
  }
  return (
    <div className={styles.choice}>
      <UsualEmojis row={row} onChosen={onChosen} />
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
