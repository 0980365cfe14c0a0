/** Streaming texts of agents, until the durable row replaces them. */
import type { Delta, PartialRow } from '@/api/types'

/** One part of a message in the making. `end`: how many code points of it have been seen or skipped. */
export interface LiveText extends PartialRow {
  end: number
}

const sameText = (a: PartialRow, b: PartialRow) =>
  a.message_id === b.message_id && a.part === b.part && a.index === b.index

const codePoints = (text: string) => Array.from(text)

export function fromPartial(partial: PartialRow): LiveText {
  return { ...partial, end: codePoints(partial.text).length }
}

/** The texts of one run after a delta. A delta that comes twice, late or from an older attempt changes nothing. */
export function appendDelta(texts: readonly LiveText[], delta: Delta): readonly LiveText[] {
  const attempt = texts.reduce((highest, text) => Math.max(highest, text.attempt), 0)
  if (delta.attempt < attempt) return texts
  const current = delta.attempt > attempt ? [] : texts
  const known = current.find(text => sameText(text, delta))
  if (!known) return [...current, liveTextOf(delta)]
  const longer = extended(known, delta)
  return longer === known ? texts : current.map(text => (text === known ? longer : text))
}

function liveTextOf({ type: _, topic: __, offset, ...delta }: Delta): LiveText {
  const text = offset > 0 ? `…${delta.text}` : delta.text
  return { ...delta, text, end: offset + codePoints(delta.text).length }
}

function extended(known: LiveText, delta: Delta): LiveText {
  const added = codePoints(delta.text)
  const end = delta.offset + added.length
  if (end <= known.end) return known
  const gap = delta.offset > known.end ? '…' : ''
  const fresh = added.slice(Math.max(0, known.end - delta.offset)).join('')
  return {
    ...known,
    name: delta.name ?? known.name,
    call_id: delta.call_id ?? known.call_id,
    text: known.text + gap + fresh,
    end,
  }
}

/** The known texts merged with those of a snapshot: of two versions of one text the longer wins. */
export function mergePartials(known: readonly LiveText[], received: readonly LiveText[]): readonly LiveText[] {
  const attempt = Math.max(0, ...known.map(text => text.attempt), ...received.map(text => text.attempt))
  const texts = known.filter(text => text.attempt === attempt)
  for (const theirs of received.filter(text => text.attempt === attempt)) {
    const at = texts.findIndex(text => sameText(text, theirs))
    if (at < 0) texts.push(theirs)
    else if (theirs.end >= (texts[at]?.end ?? 0)) texts[at] = theirs
  }
  return texts
}
