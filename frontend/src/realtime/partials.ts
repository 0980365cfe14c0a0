/** The streaming texts of agents, until durable rows replace them. */
import type { Delta, PartialRow } from '@/api/types'

/** A part of a message that is streaming. `end` is the number of its code points that have arrived or were skipped. */
export interface StreamingText extends PartialRow {
  end: number
}

const isSameText = (a: PartialRow, b: PartialRow) =>
  a.message_id === b.message_id && a.part === b.part && a.index === b.index

const splitCodePoints = (text: string) => Array.from(text)

export function fromPartial(partial: PartialRow): StreamingText {
  return { ...partial, end: splitCodePoints(partial.text).length }
}

/** Adds a delta to the texts of a run. A delta that is repeated, late or of an older attempt changes nothing. */
export function appendDelta(texts: readonly StreamingText[], delta: Delta): readonly StreamingText[] {
  const attempt = texts.reduce((highest, text) => Math.max(highest, text.attempt), 0)
  if (delta.attempt < attempt) return texts
  const current = delta.attempt > attempt ? [] : texts
  const known = current.find(text => isSameText(text, delta))
  if (!known) return [...current, buildStreamingText(delta)]
  const extended = extendText(known, delta)
  return extended === known ? texts : current.map(text => (text === known ? extended : text))
}

function buildStreamingText({ type: _, topic: __, offset, ...delta }: Delta): StreamingText {
  const text = offset > 0 ? `…${delta.text}` : delta.text
  return { ...delta, text, end: offset + splitCodePoints(delta.text).length }
}

function extendText(known: StreamingText, delta: Delta): StreamingText {
  const added = splitCodePoints(delta.text)
  const end = delta.offset + added.length
  if (end <= known.end) return known
  const gap = delta.offset > known.end ? '…' : ''
  const newText = added.slice(Math.max(0, known.end - delta.offset)).join('')
  return {
    ...known,
    name: delta.name ?? known.name,
    call_id: delta.call_id ?? known.call_id,
    text: known.text + gap + newText,
    end,
  }
}

/** Merges the known texts with those of a snapshot. Keeps the newest attempt, and the longer one of two texts. */
export function mergePartials(
  known: readonly StreamingText[],
  received: readonly StreamingText[],
): readonly StreamingText[] {
  const attempt = Math.max(0, ...known.map(text => text.attempt), ...received.map(text => text.attempt))
  const texts = known.filter(text => text.attempt === attempt)
  for (const partial of received.filter(text => text.attempt === attempt)) {
    const at = texts.findIndex(text => isSameText(text, partial))
    if (at < 0) texts.push(partial)
    else if (partial.end >= (texts[at]?.end ?? 0)) texts[at] = partial
  }
  return texts
}
