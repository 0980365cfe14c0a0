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

/** A chosen avatar: an emoji, or a letter on one of five colours. */
export type AvatarData = { kind: 'emoji'; emoji: string } | { kind: 'letter'; letter: string; color: 1 | 2 | 3 | 4 | 5 }

export const colors = [1, 2, 3, 4, 5] as const

interface AvatarProps {
  id: string
  name: string
  /** Without it, the avatar is derived from the id and, for a person, the initial of the name. */
  avatar?: AvatarData | null | undefined
  /** Square for agents, round for people. */
  square: boolean
  size?: 'tiny' | 'm' | 'l' | 'xl' | 'xxl'
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

/** Returns the icon of a square avatar. */
const getIcon = (id: string): LucideIcon => icons[hashText(id) % icons.length] ?? Bot

const getColor = (text: string) => colors[hashText(text) % colors.length] ?? 1

/** Returns the initial of a name: in Chinese the first character of the given name, otherwise the first letter. */
function getInitial(name: string): string {
  const chars = Array.from(name.trim())
  const isHan = /\p{Script=Han}/u.test(chars[0] ?? '')
  return (isHan && chars.length > 1 && chars.length < 5 ? chars[1] : chars[0])?.toUpperCase() ?? '?'
}

/** Builds the avatar for the name of a new agent: its initial on a colour; an emoji if that is no letter or digit. */
export function letterAvatar(name: string): AvatarData {
  const letter = getInitial(name)
  if (!/^[\p{L}\p{N}]$/u.test(letter)) return { kind: 'emoji', emoji: '🤖' }
  return { kind: 'letter', letter, color: getColor(name.trim()) }
}

/** An avatar. It is hidden from screen readers, because the name is always given beside it. */
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
        className={cx(styles.avatar, styles[`f${getColor(id)}`], size && styles[size])}
        data-slot="avatar"
        aria-hidden
      >
        {getInitial(name)}
        {isOnline ? <i className={styles.on} /> : null}
      </span>
    )
  }
  const Icon = getIcon(id)
  return (
    <span className={cx(styles.avatar, styles.square, size && styles[size])} data-slot="avatar" data-square aria-hidden>
      <Icon className="i" />
    </span>
  )
}
