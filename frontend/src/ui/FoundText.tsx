import { splitAtMarks, type TextRange } from '@/lib/marks'

/** A text that a search has found, with the words of the query marked. */
export function FoundText({ text, marks }: { text: string; marks: readonly TextRange[] }) {
  return splitAtMarks(text, marks).map(({ text, isMarked }, index) =>
    isMarked ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
      <mark key={index}>{text}</mark>
    ) : (
      text
    ),
  )
}
