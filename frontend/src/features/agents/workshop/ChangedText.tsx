import type { DiffPart } from './wordDiff'

/** One side of a change, with the words marked that are only on this side. */
export function ChangedText({ kind: Kind, parts }: { kind: 'ins' | 'del'; parts: readonly DiffPart[] }) {
  return parts.map(part =>
    part.isChanged ? <Kind key={part.at}>{part.text}</Kind> : <span key={part.at}>{part.text}</span>,
  )
}
