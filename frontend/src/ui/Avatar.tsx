import {
  Anchor,
  Bot,
  Calculator,
  Compass,
  Feather,
  Headphones,
  Leaf,
  type LucideIcon,
  Microscope,
  PenLine,
  Stamp,
  TrendingDown,
} from 'lucide-react'
import { cx } from '@/lib/cx'
import { hashText } from '@/lib/ids'
import styles from './Avatar.module.css'

/** An avatar that was chosen: an emoji, or a letter on one of the five colours. */
export type AvatarData = { kind: 'emoji'; emoji: string } | { kind: 'letter'; letter: string; color: 1 | 2 | 3 | 4 | 5 }

export const colors = [1, 2, 3, 4, 5] as const

interface AvatarProps {
  id: string
  name: string
  /** Without one, it follows from the id. */
  avatar?: AvatarData | null | undefined
  /** Square, or round. */
  square: boolean
  size?: 'tiny' | 'm' | 'l' | 'xl'
  isOnline?: boolean
}

const icons: readonly LucideIcon[] = [
  Compass,
  Stamp,
  PenLine,
  TrendingDown,
  Microscope,
  Calculator,
  Headphones,
  Feather,
  Leaf,
  Anchor,
  Bot,
]

/** The icon that stands for something square. */
const iconOf = (id: string): LucideIcon => icons[hashText(id) % icons.length] ?? Bot

const colorOf = (text: string) => colors[hashText(text) % colors.length] ?? 1

/** The letter people know a name by: the given name's first character in Chinese, else the first letter. */
function initialOf(name: string): string {
  const chars = Array.from(name.trim())
  const isHan = /\p{Script=Han}/u.test(chars[0] ?? '')
  return (isHan && chars.length > 1 && chars.length < 5 ? chars[1] : chars[0])?.toUpperCase() ?? '?'
}

/** The avatar that something gets when it is made: the first letter of its name on a colour. */
export function letterAvatar(name: string): AvatarData {
  const letter = initialOf(name)
  if (!/^[\p{L}\p{N}]$/u.test(letter)) return { kind: 'emoji', emoji: '🤖' }
  return { kind: 'letter', letter, color: colorOf(name.trim()) }
}

/** Decorative: the name always stands beside it, or is given apart. */
export function Avatar({ id, name, avatar, square, size, isOnline }: AvatarProps) {
  if (avatar) {
    const style = avatar.kind === 'emoji' ? styles.emoji : cx(styles.letter, styles[`f${avatar.color}`])
    return (
      <span
        className={cx(styles.avatar, square && styles.square, style, size && styles[size])}
        data-slot="avatar"
        data-square={square || undefined}
        aria-hidden
      >
        {avatar.kind === 'emoji' ? avatar.emoji : avatar.letter}
        {isOnline ? <i className={styles.on} /> : null}
      </span>
    )
  }
  if (!square) {
    return (
      <span
        className={cx(styles.avatar, styles[`f${colorOf(id)}`], size && styles[size])}
        data-slot="avatar"
        aria-hidden
      >
        {initialOf(name)}
        {isOnline ? <i className={styles.on} /> : null}
      </span>
    )
  }
  const Icon = iconOf(id)
  return (
    <span className={cx(styles.avatar, styles.square, size && styles[size])} data-slot="avatar" data-square aria-hidden>
      <Icon className="i" />
    </span>
  )
}
