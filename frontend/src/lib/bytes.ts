/** Sizes of files as people read them. */
import { getNumberFormat } from './time'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** A number of bytes in the largest unit in which it is at least 1: "412 bytes", "1.2 MB". A kilobyte has 1,000 bytes. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const unit = UNITS[power] ?? 'byte'
  const value = bytes / 1000 ** power
  const maximumFractionDigits = power > 0 && value < 10 ? 1 : 0
  const unitDisplay = power === 0 ? 'long' : 'short' // the short form of "bytes" is "byte" for every number
  return getNumberFormat({ style: 'unit', unit, unitDisplay, maximumFractionDigits }).format(value)
}
