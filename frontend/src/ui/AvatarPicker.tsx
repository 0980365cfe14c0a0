import { Popover } from 'radix-ui'
import { useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar, type AvatarData, colors, letterAvatar } from './Avatar'
import styles from './AvatarPicker.module.css'
import buttonStyles from './Button.module.css'
import menuStyles from './Menu.module.css'

const emojis = [
  ...['🧭', '✍️', '🔎', '📚', '🌐', '💬', '📝', '📊', '🧮', '📅', '📦', '💰'],
  ...['💡', '🎯', '🧩', '🔑', '⚖️', '🧪', '🔬', '🛠️', '⚙️', '🤖', '🎧', '🎨'],
  ...['🎵', '📷', '🧵', '🏠', '🏛️', '🩺', '✈️', '⛵', '🚲', '🏔️', '🌊', '🍵'],
  ...['🍜', '🌱', '🌿', '🌻', '🍀', '🦉', '🦊', '🐙', '🐝', '🐢', '🦜', '🐈'],
]

interface AvatarPickerProps {
  id: string
  name: string
  avatar: AvatarData | null
  square: boolean
  /** Whether the avatar can be set to null, for an automatic one. */
  canClear: boolean
  onChange(avatar: AvatarData | null): void
}

/** An avatar that opens a choice of emojis and of the name's initial on a colour. */
export function AvatarPicker({ id, name, avatar, square, canClear, onChange }: AvatarPickerProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const letter = letterAvatar(name)
  const choose = (next: AvatarData | null) => {
    onChange(next)
    setOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button type="button" className={styles.trigger} aria-label={t('avatar.change')}>
          <Avatar id={id} name={name} avatar={avatar} square={square} size="xl" />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className={cx(menuStyles.pop, styles.content)}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('avatar.change')}
        >
          {letter.kind === 'letter' ? (
            <fieldset className="row" aria-label={t('avatar.letter')}>
              {colors.map(color => (
                <button
                  key={color}
                  type="button"
                  aria-label={t('avatar.color', { letter: letter.letter, n: color })}
                  aria-pressed={avatar?.kind === 'letter' && avatar.color === color}
                  onClick={() => choose({ ...letter, color })}
                >
                  <Avatar id={id} name={name} avatar={{ ...letter, color }} square={square} size="m" />
                </button>
              ))}
            </fieldset>
          ) : null}
          {canClear && avatar ? (
            <button
              type="button"
              data-slot="button"
              className={cx(buttonStyles.btn, buttonStyles.xs, 'end')}
              onClick={() => choose(null)}
            >
              {t('avatar.none')}
            </button>
          ) : null}
          <fieldset className={styles.emojis} aria-label={t('avatar.emoji')}>
            {emojis.map(emoji => (
              <button
                key={emoji}
                type="button"
                aria-label={emoji}
                aria-pressed={avatar?.kind === 'emoji' && avatar.emoji === emoji}
                onClick={() => choose({ kind: 'emoji', emoji })}
              >
                {emoji}
              </button>
            ))}
          </fieldset>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
