/** The provenance of a draft's text: its segments, located in the current text. Pure. */
import { diff } from '@codemirror/merge'
import type { Conflict, Provenance, Segment, SpecContent } from '@/api'

/** A segment in the current text, with its lines (1-based) that are unchanged. */
interface LocatedSegment {
  segment: Segment
  lines: readonly number[]
  /** All its lines are there, without a gap. */
  isComplete: boolean
}

/** The lines of a segment. Its last line end is optional. */
export const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** For each line of `after`, the line of `before` that it is, unchanged; both count from 0. */
function sameLines(before: readonly string[], after: readonly string[]): Map<number, number> {
  const letters = new Map<string, string>()
  const [a, b] = [encodeLines(before, letters), encodeLines(after, letters)]
  const same = new Map<number, number>()
  let [inA, inB] = [0, 0]
  for (const change of [...diff(a, b), { fromB: b.length, toA: 0, toB: 0 }]) {
    while (inB < change.fromB) same.set(inB++, inA++)
    inA = change.toA
    inB = change.toB
  }
  return same
}

const SURROGATES = 0xd800

/** One letter per line, the same for the same line: a comparison of letters is then one of whole lines. */
function encodeLines(lines: readonly string[], letters: Map<string, string>): string {
  return lines
    .map(line => {
      const known = letters.get(line) ?? String.fromCharCode(1 + (letters.size % (SURROGATES - 1)))
      letters.set(line, known)
      return known
    })
    .join('')
}

/** Locate the segments in `text`. Each line belongs to at most one segment; edited lines belong to none. */
export function locateSegments(segments: readonly Segment[], text: string): LocatedSegment[] {
  const made = segments.map(segment => linesOf(segment.text))
  const owner = made.flatMap((lines, index) => lines.map(() => index))
  const found: number[][] = segments.map(() => [])
  for (const [line, from] of sameLines(made.flat(), linesOf(text))) found[owner[from] ?? -1]?.push(line + 1)
  return segments.map((segment, index) => {
    const lines = found[index] ?? []
    const isComplete = lines.length === made[index]?.length && isOneRun(lines)
    return { segment, lines, isComplete }
  })
}

const isOneRun = (lines: readonly number[]) => lines.every((line, at) => line === (lines[0] ?? 0) + at)

/** The segments with another choice of a conflict. It replaces all segments of that conflict. */
function withChoice(segments: readonly Segment[], conflict: number, choice: Conflict['choices'][number]): Segment[] {
  const first = segments.findIndex(segment => segment.conflict === conflict)
  if (first < 0) return [...segments]
  const text = linesOf(choice.text)
    .map(line => `${line}\n`)
    .join('')
  const segment: Segment = { text, contributors: choice.contributor ? [choice.contributor] : [], conflict }
  return segments.flatMap((each, index) => (index === first ? [segment] : each.conflict === conflict ? [] : [each]))
}

/** The layer of a draft's contributors: suggestions if it was merged, else editing. */
export const layerOf = (provenance: Provenance) => (provenance.origin === 'merge' ? 'suggestion' : 'writing')

/** The segments of a draft, located in its current text. */
export interface Sources {
  segments: readonly Segment[]
  located: readonly LocatedSegment[]
  /** Per conflict: the choice that stands in the draft now; null when it is something else by now. */
  chosen: readonly (number | null)[]
}

/** Reads from the text itself which choices stand in it: so everybody sees the same, also after a reload. */
export function findSources(provenance: Provenance, content: SpecContent): Sources {
  let segments: readonly Segment[] = provenance.segments
  const conflicts = provenance.conflicts ?? []
  const chosen = conflicts.map((conflict, index) => {
    if (conflict.about !== 'prompt') return fieldChoice(conflict, content)
    const made = conflict.chosen ?? null
    if (made !== null && isInText(segments, index, content.prompt)) return made
    // What says nothing stands everywhere: it is the last to be looked for.
    const others = conflict.choices.map((_, at) => at).filter(at => at !== made)
    others.sort((a, b) => Number(isEmpty(conflict, a)) - Number(isEmpty(conflict, b)))
    for (const at of others) {
      const choice = conflict.choices[at]
      const tried = choice ? withChoice(segments, index, choice) : segments
      if (!choice || !isInText(tried, index, content.prompt)) continue
      segments = tried
      return at
    }
    return null
  })
  return { segments, located: locateSegments(segments, content.prompt), chosen }
}

const isEmpty = (conflict: Conflict, choice: number) => linesOf(conflict.choices[choice]?.text ?? '').length === 0

function isInText(segments: readonly Segment[], conflict: number, text: string): boolean {
  const parts = locateSegments(segments, text).filter(each => each.segment.conflict === conflict)
  return parts.length > 0 && parts.every(each => each.isComplete) && isOneRun(parts.flatMap(each => each.lines))
}

/** The prompt with another choice of a conflict; null when what stood there was edited, so that there is no place to put it. */
export function replaceChoice(sources: Sources, conflict: number, choice: string, text: string): string | null {
  const at = sources.located.findIndex(each => each.segment.conflict === conflict)
  const parts = sources.located.filter(each => each.segment.conflict === conflict)
  const lines = parts.flatMap(each => each.lines)
  if (at < 0 || !parts.every(each => each.isComplete) || !isOneRun(lines)) return null
  const before = sources.located.slice(0, at).flatMap(each => each.lines)
  const start = (lines[0] ?? Math.max(0, ...before) + 1) - 1
  const all = text.split('\n')
  all.splice(start, lines.length, ...linesOf(choice))
  return all.join('\n')
}

// --- fields: everything but the prompt ---------------------------------------------------------------------------

type Tool = SpecContent['tools'][number]

/** A field as the text of a choice. Tools are compared as what they say, whatever the order of their settings. */
function fieldText(content: SpecContent, about: string): string {
  const [group, name = ''] = split(about)
  if (group === 'tools') return canonical(content.tools.find(tool => tool.tool === name) ?? null)
  if (group === 'parameters' || group === 'limits')
    return toText((content[group] as Record<string, unknown>)[name] ?? null)
  return toText(group === 'model' ? content.model : group === 'memory' ? content.memory : null)
}

const toText = (value: unknown) => (value === null || value === undefined ? '' : String(value))
const split = (about: string): [string, string?] => {
  const dot = about.indexOf('.')
  return dot < 0 ? [about] : [about.slice(0, dot), about.slice(dot + 1)]
}

function canonical(tool: Partial<Tool> | null): string {
  if (!tool) return ''
  const settings = Object.entries(tool.custom_config ?? {}).sort(([a], [b]) => a.localeCompare(b))
  return JSON.stringify([tool.tool, tool.is_enabled ?? true, settings, tool.usage_instructions ?? ''])
}

/** A tool as a choice says it; null when the choice is that there is none. */
export function toolOf(text: string): Tool | null {
  try {
    return text ? (JSON.parse(text) as Tool) : null
  } catch {
    return null
  }
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))
const isSameField = (about: string, a: string, b: string) =>
  a === b || (!about.startsWith('tools.') && isNumber(a) && isNumber(b) && Number(a) === Number(b))

function fieldChoice(conflict: Conflict, content: SpecContent): number | null {
  const now = fieldText(content, conflict.about)
  const isTool = conflict.about.startsWith('tools.')
  const at = conflict.choices.findIndex(choice =>
    isSameField(conflict.about, isTool ? canonical(toolOf(choice.text)) : choice.text, now),
  )
  return at < 0 ? null : at
}

/** The content with a field as a choice says. */
export function withField(content: SpecContent, about: string, text: string): SpecContent {
  const [group, name = ''] = split(about)
  switch (group) {
    case 'model':
      return { ...content, model: text }
    case 'memory':
      return { ...content, memory: text as SpecContent['memory'] }
    case 'parameters':
      return { ...content, parameters: { ...content.parameters, [name]: text === '' ? null : Number(text) } }
    case 'limits':
      return text === '' ? content : { ...content, limits: { ...content.limits, [name]: Number(text) } }
    case 'tools':
      return { ...content, tools: withToolChoice(content.tools, name, toolOf(text)) }
    default:
      return content
  }
}

function withToolChoice(tools: SpecContent['tools'], name: string, choice: Tool | null): SpecContent['tools'] {
  if (!choice) return tools.filter(tool => tool.tool !== name)
  const isKnown = tools.some(tool => tool.tool === name)
  return isKnown ? tools.map(tool => (tool.tool === name ? choice : tool)) : [...tools, choice]
}
