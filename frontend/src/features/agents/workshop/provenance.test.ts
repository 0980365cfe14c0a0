import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Conflict, defaultSpec, type Provenance, type Segment, type SpecContent } from '@/api'
import { splitLines } from '@/lib/splitLines'
import { parseField, setField } from '../fields'
import { findSources, hasSegment, locateSegments, replaceChoice } from './provenance'

const content = (prompt: string, change: Partial<SpecContent> = {}): SpecContent => ({
  ...defaultSpec,
  prompt,
  ...change,
})
const segment = (text: string, contributors: string[] = [], conflict: number | null = null): Segment => ({
  text,
  contributors,
  conflict,
})
const segments = [segment('# Role\n'), segment('Be short.\nBe kind.\n', ['bob']), segment('Use tables.', ['carol'])]
const made = segments.map(segment => segment.text).join('')
const provenance = (own: Segment[], conflicts: Conflict[] = []): Provenance => ({
  origin: 'merge',
  merge_id: null,
  contributors: [],
  segments: own,
  conflicts,
})

describe('the segments of a text', () => {
  it('are located in the unchanged text', () => {
    expect(locateSegments(segments, made).map(part => part.lines)).toEqual([[1], [2, 3], [4]])
  })

  it('keep the unchanged lines and lose the edited ones', () => {
    const found = locateSegments(segments, 'Hello\n# Role\nBe short!\nBe kind.\nUse tables.')
    expect(found.map(part => part.lines)).toEqual([[2], [4], [5]])
    expect(found.map(part => part.isComplete)).toEqual([true, false, true])
  })

  it('never share a line, whatever is edited', () => {
    const line = fc.constantFrom('', 'a', 'b', '- c', '# d')
    const text = fc.array(line, { maxLength: 12 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), text, (parts, now) => {
        const own = parts.map(part => segment(`${part}\n`))
        const found = locateSegments(own, now).flatMap(part => part.lines)
        const lines = splitLines(now)
        expect(new Set(found).size).toBe(found.length)
        expect(found.every(at => at >= 1 && at <= lines.length)).toBe(true)
        for (const part of locateSegments(own, now))
          for (const at of part.lines) expect(splitLines(part.segment.text)).toContain(lines[at - 1])
      }),
    )
  })

  it('are complete in an unchanged text', () => {
    const line = fc.constantFrom('', 'a', 'b', 'c')
    const text = fc.array(line, { minLength: 1, maxLength: 6 }).map(lines => `${lines.join('\n')}\n`)
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), parts => {
        const found = locateSegments(
          parts.map(part => segment(part)),
          parts.join(''),
        )
        expect(found.every(part => part.isComplete)).toBe(true)
      }),
    )
  })
})

describe('a conflict in the prompt', () => {
  const choices = [
    { contributor: 'bob', text: 'Two lines at most.' },
    { contributor: 'carol', text: 'Three lines at most.\nNever more.' },
    { contributor: null, text: '' },
  ]
  const conflict: Conflict = { about: 'prompt', question: '', choices, chosen: 0 }
  const own = [segment('# Role\n'), segment('Two lines at most.\n', ['bob'], 0), segment('End.')]
  const start = content('# Role\nTwo lines at most.\nEnd.')

  it('has the original choice until another one is chosen', () => {
    expect(findSources(provenance(own, [conflict]), start).chosen).toEqual([0])
  })

  it('can be changed to another choice repeatedly, with its contributor', () => {
    const first = findSources(provenance(own, [conflict]), start)
    const second = content(replaceChoice(first, 0, choices[1]?.text ?? '', start.prompt) ?? '')
    expect(second.prompt).toBe('# Role\nThree lines at most.\nNever more.\nEnd.')
    const found = findSources(provenance(own, [conflict]), second)
    expect(found.chosen).toEqual([1])
    expect(found.located[1]).toMatchObject({ segment: { contributors: ['carol'] }, lines: [2, 3], isComplete: true })
    const none = content(replaceChoice(found, 0, '', second.prompt) ?? '')
    expect(none.prompt).toBe('# Role\nEnd.')
    const left = findSources(provenance(own, [conflict]), none)
    expect(left.chosen).toEqual([2])
    expect(replaceChoice(left, 0, choices[0]?.text ?? '', none.prompt)).toBe(start.prompt)
  })

  it('has no choice once its lines were edited, and is not replaced then', () => {
    const edited = content('# Role\nTwo lines, three if you must.\nEnd.')
    const found = findSources(provenance(own, [{ ...conflict, choices: choices.slice(0, 2) }]), edited)
    expect(found.chosen).toEqual([null])
    expect(replaceChoice(found, 0, 'x', edited.prompt)).toBeNull()
  })
})

describe('a conflict in a field', () => {
  const about = (name: string, ...texts: string[]): Conflict => ({
    about: name,
    question: '',
    choices: texts.map(text => ({ contributor: null, text })),
    chosen: 0,
  })

  it('finds the current choice and can be changed to another', () => {
    const conflict = about('parameters.temperature', '0.3', '1.0', '')
    const chosen = (now: SpecContent) => findSources(provenance([], [conflict]), now).chosen[0]
    const set = (now: SpecContent, text: string) => setField(now, conflict.about, parseField(conflict.about, text))
    const warm = set(content(''), '1.0')
    expect(warm.parameters.temperature).toBe(1)
    expect([chosen(content('')), chosen(warm)]).toEqual([2, 1])
    expect(chosen(set(warm, ''))).toBe(2)
  })

  it('about a tool adds, changes or removes the tool', () => {
    const tool = {
      tool: 'web_fetch',
      is_enabled: true,
      custom_config: { timeout_s: 5, retries: 1 },
      usage_instructions: '',
    }
    const other = { ...tool, custom_config: { retries: 1, timeout_s: 9 } }
    const conflict = about('tools.web_fetch', JSON.stringify(tool), JSON.stringify(other), '')
    const chosen = (now: SpecContent) => findSources(provenance([], [conflict]), now).chosen[0]
    const has = setField(content(''), conflict.about, other)
    expect([chosen(has), chosen(content('')), chosen(content('', { tools: [tool] }))]).toEqual([1, 2, 0])
    expect(setField(has, conflict.about, parseField(conflict.about, '')).tools).toEqual([])
  })
})

describe('a chosen deletion without a segment', () => {
  const choices = [
    { text: 'Never more.', contributor: 'bob' },
    { text: '', contributor: 'carol' },
    { text: 'Never.\nEver.', contributor: 'dave' },
  ]
  const deleted: Conflict = { about: 'prompt', question: '', choices, chosen: 1 }
  const own = [segment('# Role\nBe kind.\nEnd.')]
  const find = (prompt: string, segments = own, conflicts = [deleted]) =>
    findSources(provenance(segments, conflicts), content(prompt))

  it('stays the choice of its conflict, and cannot be replaced because its place is not known', () => {
    const found = find('# Role\nBe kind.\nEnd.')
    expect(found.chosen).toEqual([1])
    expect(hasSegment(found.segments, 0)).toBe(false)
    expect(replaceChoice(found, 0, 'Never more.', '# Role\nBe kind.\nEnd.')).toBeNull()
  })

  it.each([
    ['at the start', 'Never.\nEver.\n# Role\nBe kind.\nEnd.', [1, 2]],
    ['within a segment', '# Role\nNever.\nEver.\nBe kind.\nEnd.', [2, 3]],
    ['beside an edited line', '# Role\nBe kind!\nNever.\nEver.\nEnd.', [3, 4]],
    ['at the end', '# Role\nBe kind.\nEnd.\nNever.\nEver.', [4, 5]],
  ])('is replaced by another choice that is typed %s, which can then be replaced', (_, prompt, lines) => {
    const found = find(prompt)
    expect(found.chosen).toEqual([2])
    const part = found.located.find(part => part.segment.conflict === 0)
    expect(part).toMatchObject({ segment: { contributors: ['dave'] }, lines, isComplete: true })
    const without = prompt.split('\n').filter(line => !line.startsWith('Never.') && !line.startsWith('Ever.'))
    expect(replaceChoice(found, 0, '', prompt)).toBe(without.join('\n'))
    expect(replaceChoice(found, 0, 'Never more.', prompt)).toBe(prompt.replace('Never.\nEver.', 'Never more.'))
  })

  it('is not replaced by lines that are part of a segment', () => {
    const prompt = '# Role\nNever more.\nEnd.'
    expect(find(prompt, [segment(prompt)]).chosen).toEqual([1])
    expect(find('# Role\nNever more.\nNever more.\nEnd.', [segment(prompt)]).chosen).toEqual([0])
  })

  it('keeps the choices of the other conflicts', () => {
    const other: Conflict = { ...deleted, choices: choices.slice(0, 2), chosen: 0 }
    const typed: Conflict = {
      ...deleted,
      choices: [{ text: 'End well.', contributor: 'dave' }, ...choices.slice(1, 2)],
    }
    const segments = [segment('# Role\n'), segment('Never more.\n', ['bob'], 0), segment('End.')]
    expect(find('# Role\nNever more.\nEnd.', segments, [other, typed]).chosen).toEqual([0, 1])
    expect(find('# Role\nEnd.', segments, [other, typed]).chosen).toEqual([1, 1])
    const found = find('# Role\nEnd.\nEnd well.', segments, [other, typed])
    expect(found.chosen).toEqual([1, 0])
    expect(replaceChoice(found, 0, 'Never more.', '# Role\nEnd.\nEnd well.')).toBe(
      '# Role\nNever more.\nEnd.\nEnd well.',
    )
  })
})
