/** Formats counts of the use of public agents. */
import { getNumberFormat } from '@/lib/time'

/** The counts that the server hides are one to four: they would tell what single workspaces do. */
const HIDDEN_COUNT = '1–4'

/** Formats a count, large ones in short, such as "9.4K". */
export const formatCount = (count: number | null): string =>
  count === null
    ? HIDDEN_COUNT
    : getNumberFormat({ notation: 'compact', maximumFractionDigits: count < 10_000 ? 1 : 0 }).format(count)
