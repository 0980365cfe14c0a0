/** The provenance of a draft's text: its segments, located in the current text. Pure. */
import type { Conflict, Provenance, Segment, SpecContent } from '@/api'
import { splitLines } from '@/lib/splitLines'
import { isEqual } from '../content'
import { getField, parseField } from '../fields'
import { lineChanges } from './lineChanges'

/** A segment in the current text, with its lines (1-based) that are unchanged. */
interface LocatedSegment {
  segment: Segment
  lines: readonly number[]
  /** Whether all its lines are present and consecutive. */
  isComplete: boolean
}

/** Maps each unchanged line of `after` to its line in `before` (both 0-based). */
function matchLines(before: readonly string[], after: readonly string[]): Map<number, number> {
  const matches = new Map<number, number>()
  let [inA, inB] = [0, 0]
  // The last, empty change makes the loop match the lines after the other changes.
  for (const change of [...lineChanges(before, after), { fromB: after.length, toA: 0, toB: 0 }]) {
    while (inB < change.fromB) matches.set(inB++, inA++)
    inA = change.toA
    inB = change.toB
  }
  return matches
}

/** Locate the segments in `text`. Each line belongs to at most one segment; edited lines belong to none. */
export function locateSegments(segments: readonly Segment[], text: string): LocatedSegment[] {
  const original = segments.map(segment => splitLines(segment.text))
  const segmentOfLine = original.flatMap((lines, index) => lines.map(() => index))
  const found: number[][] = segments.map(() => [])
  for (const [line, from] of matchLines(original.flat(), splitLines(text)))
    found[segmentOfLine[from] ?? -1]?.push(line + 1)
  return segments.map((segment, index) => {
    const lines = found[index] ?? []
    const isComplete = lines.length === original[index]?.length && areConsecutive(lines)
    return { segment, lines, isComplete }
  })
}

const areConsecutive = (lines: readonly number[]) => lines.every((line, at) => line === (lines[0] ?? 0) + at)

/** A choice of a conflict. `parts` are the texts of several contributors, if the choice keeps all of them. */
export interface Choice {
  contributor?: string | null
  text: string
  parts?: readonly Conflict['choices'][number][]
}

/**
 * Returns the choices of a conflict, and after them the one that keeps all of them, if several have lines of the prompt: the lines of
 * the first, and then those of each other one that are not there yet.
 */
export function listChoices({ about, choices }: Conflict): Choice[] {
  if (about !== 'prompt') return [...choices]
  const kept = new Set<string>()
  const parts = choices.flatMap(choice => {
    const lines = splitLines(choice.text).filter(line => line.trim() === '' || !kept.has(line))
    for (const line of lines) kept.add(line)
    return lines.some(line => line.trim() !== '') ? [{ ...choice, text: lines.join('\n') }] : []
  })
  if (parts.length < 2) return [...choices]
  return [...choices, { text: parts.map(part => part.text).join('\n'), parts }]
}

/** Returns the segments with another choice of a conflict, which replaces all segments of that conflict. */
function replaceSegments(segments: readonly Segment[], conflictIndex: number, choice: Choice): Segment[] {
  const first = segments.findIndex(segment => segment.conflict === conflictIndex)
  if (first < 0) return [...segments]
  const chosen = buildSegments(choice, conflictIndex)
  return segments.flatMap((other, index) =>
    index === first ? chosen : other.conflict === conflictIndex ? [] : [other],
  )
}

/** Returns the segments of a choice: one, or one of each contributor if it keeps the texts of several. */
const buildSegments = (choice: Choice, conflictIndex: number): Segment[] =>
  (choice.parts ?? [choice]).map(({ text, contributor }) => ({
    text: splitLines(text)
      .map(line => `${line}\n`)
      .join(''),
    contributors: contributor ? [contributor] : [],
    conflict: conflictIndex,
  }))

/** Returns the layer whose colour marks the contributors. */
export const getOriginLayer = (provenance: Provenance) => (provenance.origin === 'merge' ? 'suggestion' : 'writing')

/** The segments of a draft, located in its current text. */
export interface Sources {
  segments: readonly Segment[]
  located: readonly LocatedSegment[]
  /** The index of the current choice of each conflict; null if its text was edited, or none was chosen. */
  chosen: readonly (number | null)[]
}

/** Finds the segments and the current choices in the text itself, so that every reader sees the same, also after a reload. */
export function findSources(provenance: Provenance, content: SpecContent): Sources {
  let segments: readonly Segment[] = provenance.segments
  const conflicts = provenance.conflicts ?? []
  const chosen = conflicts.map((conflict, index) => {
    if (conflict.about !== 'prompt') return findFieldChoice(conflict, content)
    const found = findPromptChoice(segments, conflict, index, content.prompt)
    segments = found.segments
    return found.choiceIndex
  })
  return { segments, located: locateSegments(segments, content.prompt), chosen }
}

interface PromptChoice {
  choiceIndex: number | null
  segments: readonly Segment[]
}

/** Finds the current choice of a conflict in the prompt. Returns it, and the segments with it. */
function findPromptChoice(
  segments: readonly Segment[],
  conflict: Conflict,
  conflictIndex: number,
  prompt: string,
): PromptChoice {
  if (!hasSegment(segments, conflictIndex)) {
    const typed = findTypedChoice(segments, conflict, conflictIndex, prompt)
    return typed ?? { choiceIndex: findChosenDeletion(conflict), segments }
  }
  const original = conflict.chosen ?? null
  const choices = listChoices(conflict)
  // A text that keeps all choices also contains each of them, so it is tried first. An empty choice matches every text, so it is
  // tried last.
  const rank = (at: number) => (choices[at]?.parts ? 0 : at === original ? 1 : isEmptyChoice(conflict, at) ? 3 : 2)
  for (const choiceIndex of choices.map((_, at) => at).sort((a, b) => rank(a) - rank(b))) {
    const choice = choices[choiceIndex]
    if (!choice) continue
    const candidate = choiceIndex === original ? segments : replaceSegments(segments, conflictIndex, choice)
    if (isInText(candidate, conflictIndex, prompt)) return { choiceIndex, segments: candidate }
  }
  return { choiceIndex: null, segments }
}

/** Returns whether the place of a conflict in the prompt is known. Answers of merge agents have no segment for a deletion. */
export const hasSegment = (segments: readonly Segment[], conflictIndex: number) =>
  segments.some(segment => segment.conflict === conflictIndex)

/** Returns `conflict.chosen` if the merge agent chose to delete the lines. Otherwise null. For a conflict without a segment. */
function findChosenDeletion(conflict: Conflict): number | null {
  const chosen = conflict.chosen ?? null
  return chosen !== null && isEmptyChoice(conflict, chosen) ? chosen : null
}

/** Finds a choice that was typed by hand, so that its lines belong to no segment. Returns it, and the segments with it. */
function findTypedChoice(
  segments: readonly Segment[],
  conflict: Conflict,
  conflictIndex: number,
  prompt: string,
): PromptChoice | null {
  const original = segments.flatMap(segment => splitLines(segment.text))
  const lines = splitLines(prompt)
  const matches = matchLines(original, lines)
  for (const [choiceIndex, choice] of listChoices(conflict).entries()) {
    const typed = splitLines(choice.text)
    const start = lines.findIndex((_, at) => typed.every((line, i) => line === lines[at + i] && !matches.has(at + i)))
    if (typed.length === 0 || start < 0) continue
    const before = [...matches].filter(([line]) => line < start).map(([, from]) => from)
    const inserted = buildSegments(choice, conflictIndex)
    const candidate = insertSegments(segments, Math.max(-1, ...before) + 1, inserted)
    if (isInText(candidate, conflictIndex, prompt)) return { choiceIndex, segments: candidate }
  }
  return null
}

/** Returns the segments with others before a line (0-based, of all segments). A segment around that place is split. */
function insertSegments(segments: readonly Segment[], at: number, inserted: readonly Segment[]): Segment[] {
  let end = 0
  const index = segments.findIndex(({ text }) => {
    end += splitLines(text).length
    return end > at
  })
  const segment = segments[index]
  if (!segment) return [...segments, ...inserted]
  const lines = splitLines(segment.text).map(line => `${line}\n`)
  const cut = lines.length - (end - at)
  const head = cut > 0 ? [{ ...segment, text: lines.slice(0, cut).join('') }] : []
  const tail = { ...segment, text: lines.slice(cut).join('') }
  return [...segments.slice(0, index), ...head, ...inserted, tail, ...segments.slice(index + 1)]
}

const isEmptyChoice = (conflict: Conflict, choiceIndex: number) =>
  splitLines(listChoices(conflict)[choiceIndex]?.text ?? '').length === 0

function isInText(segments: readonly Segment[], conflictIndex: number, text: string): boolean {
  const parts = locateSegments(segments, text).filter(part => part.segment.conflict === conflictIndex)
  return parts.length > 0 && parts.every(part => part.isComplete) && areConsecutive(parts.flatMap(part => part.lines))
}

/** Returns the prompt with another choice of a conflict, or null when its current text was edited or its place is not known. */
export function replaceChoice(
  sources: Sources,
  conflictIndex: number,
  choiceText: string,
  prompt: string,
): string | null {
  const at = sources.located.findIndex(part => part.segment.conflict === conflictIndex)
  const parts = sources.located.filter(part => part.segment.conflict === conflictIndex)
  const lines = parts.flatMap(part => part.lines)
  if (at < 0 || !parts.every(part => part.isComplete) || !areConsecutive(lines)) return null
  const before = sources.located.slice(0, at).flatMap(part => part.lines)
  // The index of the first replaced line. A deletion has no lines: its place is after those of the segments before it.
  const start = lines[0] === undefined ? Math.max(0, ...before) : lines[0] - 1
  const all = prompt.split('\n')
  all.splice(start, lines.length, ...splitLines(choiceText))
  return all.join('\n')
}

// --- fields: everything but the prompt ---------------------------------------------------------------------------

function findFieldChoice(conflict: Conflict, content: SpecContent): number | null {
  const now = getField(content, conflict.about)
  const at = conflict.choices.findIndex(choice => isEqual(parseField(conflict.about, choice.text), now))
  return at < 0 ? null : at
}
