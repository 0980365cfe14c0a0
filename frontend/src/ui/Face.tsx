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
import { hashOf } from '@/lib/ids'

interface FaceProps {
  id: string
  name: string
  /** Agents are square, people are round: always. */
  square: boolean
  size?: 'tiny' | 'm' | 'l' | 'xl'
  here?: boolean
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
export const iconOf = (id: string): LucideIcon => icons[hashOf(id) % icons.length] ?? Bot

/** The letter people know a name by: the given name's first character in Chinese, else the first letter. */
export function initialOf(name: string): string {
  const chars = Array.from(name.trim())
  const isHan = /\p{Script=Han}/u.test(chars[0] ?? '')
  return (isHan && chars.length > 1 && chars.length < 5 ? chars[1] : chars[0])?.toUpperCase() ?? '?'
}

/** Somebody's face. Decorative: the name always stands beside it, or is given apart. */
export function Face({ id, name, square, size, here }: FaceProps) {
  if (!square) {
    return (
      <span className={cx('face', `f${(hashOf(id) % 5) + 1}`, size)} aria-hidden>
        {initialOf(name)}
        {here ? <i className="on" /> : null}
      </span>
    )
  }
  const Icon = iconOf(id)
  return (
    <span className={cx('face agent', size)} aria-hidden>
      <Icon className="i" />
    </span>
  )
}
