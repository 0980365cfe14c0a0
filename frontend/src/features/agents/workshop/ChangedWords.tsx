import type { Part } from './wordDiff'

/** One side of a change: the words that are only on this side are marked. */
export function ChangedWords({ kind: Kind, parts }: { kind: 'ins' | 'del'; parts: readonly Part[] }) {
  return parts.map(part =>
    part.isChanged ? <Kind key={part.at}>{part.text}</Kind> : <span key={part.at}>{part.text}</span>,
  )
}
