import { describe, expect, it } from 'vitest'
import type { Provenance } from '@/api'
import en from '@/lib/texts/en'
import hans from '@/lib/texts/zh-hans'
import hant from '@/lib/texts/zh-hant'
import { countConflicts, mergedParts, otherConflicts, sharesOf } from './mergedLines'
import { percentOf, stepsOf } from './mergeSteps'
import { changeSearch, parseSuggestionSearch } from './search'
import { selectedRows, selectionState, toggle, toggleAll, whyNotMerge, whyNotReject } from './selection'
import { actor, merge, suggestion } from './suggestion.testing'
import { mergeWhy } from './wording'

const none: ReadonlySet<string> = new Set()

describe('picking', () => {
  const rows = [suggestion('s2'), suggestion('s1'), suggestion('s3', { verbs: [] })]

  it('toggles one, and all that can be decided', () => {
    const one = toggle(none, 's1')
    expect([selectionState(rows, none), selectionState(rows, one), toggle(one, 's1').size]).toEqual([false, 'mixed', 0])
    const all = toggleAll(rows, one)
    expect([[...all], selectionState(rows, all), toggleAll(rows, all).size]).toEqual([['s2', 's1'], true, 0])
  })

  it('lets go of what was decided meanwhile, and puts who asked first first', () => {
    expect(selectedRows(rows, new Set(['s1', 's2', 's3', 'gone'])).map(row => row.id)).toEqual(['s1', 's2'])
  })

  it('says why some cannot be merged', () => {
    const other = suggestion('s4', { agent: actor('owl', { kind: 'agent' }) })
    const many = Array.from({ length: 21 }, (_, index) => suggestion(`s${index}`))
    expect(whyNotMerge([])).toBe('pickFirst')
    expect(whyNotMerge([suggestion('s1'), other])).toBe('oneAgentOnly')
    expect(whyNotMerge(many)).toBe('tooManyToMerge')
    expect(whyNotMerge([suggestion('s1', { verbs: ['reject'] })])).toBe('notYoursToMerge')
    expect(whyNotMerge([suggestion('s1'), suggestion('s2')])).toBeNull()
    expect([whyNotReject([]), whyNotReject([suggestion('s1'), other])]).toEqual(['pickFirst', null])
  })
})

describe('the address', () => {
  it('keeps what is known and drops the rest', () => {
    expect(parseSuggestionSearch({ state: 'accepted', agent: 'a', s: '', m: 7, x: 'y' })).toEqual({
      state: 'accepted',
      agent: 'a',
    })
    expect(parseSuggestionSearch({ state: 'odd' })).toEqual({})
  })

  it('changes a part and lets go of another', () => {
    expect(changeSearch({ state: 'rejected', s: 'one' }, { s: undefined, m: 'two' })).toEqual({
      state: 'rejected',
      m: 'two',
    })
  })
})

/** The codes of the server's `suggestions.merge_answer.Why`. */
const ofAnswers = [
  ...['answer_too_long', 'answer_no_json', 'answer_wrong_shape', 'answer_unknown_source', 'answer_unknown_choice'],
  ...['answer_own_words', 'answer_leaves_out', 'answer_drops', 'answer_prompt_too_long'],
]

describe('why a merge failed, or was done line by line', () => {
  const whyText = (texts: Record<string, string>, error_code: string | null, state: 'failed' | 'done' = 'failed') =>
    mergeWhy({ state, error_code }, key => texts[key] ?? key)

  it.each([[en], [hant], [hans]])('has a text of its own for each code', texts => {
    const all = [
      'draft_locked',
      'other_draft_locked',
      'not_found',
      'forbidden',
      'too_large',
      'internal',
      'no_such_code',
    ]
    const ways = [...all.map(code => whyText(texts, code)), ...ofAnswers.map(code => whyText(texts, code, 'done'))]
    expect(new Set(ways).size).toBe(all.length + ofAnswers.length)
    expect(ways.filter(text => text.includes('mergeWhy'))).toEqual([])
  })

  it('says of what a model failed with what that means for a merge', () => {
    expect(whyText(en, 'timeout_idle', 'done')).toBe('Its model took too long.')
    expect(whyText(en, 'not_found', 'done')).toBe("Its model doesn't work with the current settings.")
    expect(whyText(en, null, 'done')).toBe('')
  })
})

describe('the steps of a merge', () => {
  const at = (...[row, written]: Parameters<typeof stepsOf>) => stepsOf(row, written).map(step => step.state)

  it('go on with what is written', () => {
    expect(at(merge({ state: 'waiting' }), null)).toEqual(['now', 'todo', 'todo', 'todo'])
    expect(at(merge({ state: 'waiting' }), { done: 1, expected: 9 })).toEqual(['done', 'now', 'todo', 'todo'])
    expect(at(merge(), null)).toEqual(['done', 'now', 'todo', 'todo'])
    expect(at(merge(), { done: 95, expected: 100 })).toEqual(['done', 'done', 'now', 'todo'])
    expect(at(merge({ state: 'done' }), null)).toEqual(['done', 'done', 'done', 'done'])
  })

  it('say where it ended', () => {
    const provenance: Provenance = { origin: 'merge', merge_id: null, contributors: [], segments: [], conflicts: [] }
    expect(at(merge({ state: 'failed', provenance }), null)).toEqual(['done', 'done', 'done', 'failed'])
    expect(at(merge({ state: 'stopped' }), null)).toEqual(['done', 'todo', 'todo', 'todo'])
  })

  it('never say all before all is done, and never go back', () => {
    const percents = [0, 10, 60, 100, 900].map(done => percentOf(merge(), { done, expected: 100 }))
    expect(percents).toEqual([12, 20, 60, 92, 92])
    expect([percentOf(merge({ state: 'waiting' }), null), percentOf(merge({ state: 'done' }), null)]).toEqual([4, 100])
    expect(percentOf(merge(), { done: 3, expected: 0 })).toBe(12)
  })
})

describe('a merged text', () => {
  const production = 'abcdefghijkl'.split('').join('\n')
  const contributor = (id: string) => ({ id, actor_id: `${id}-actor`, name: id, in_run_of: null, title: '' })
  const segment = (text: string, contributors: string[] = [], conflict: number | null = null) => ({
    text,
    contributors,
    conflict,
  })
  const provenance: Provenance = {
    origin: 'merge',
    merge_id: 'm',
    contributors: [contributor('s1'), contributor('s2')],
    segments: [
      segment('a\n'),
      segment('B1\nB2\n', ['s1']),
      segment('C!\n', ['s1'], 0),
      segment('d\ne\nf\ng\nh\ni\nj\nk\nl\n'),
      segment('end', ['s1', 's2']),
    ],
    conflicts: [
      {
        about: 'prompt',
        question: 'C?',
        choices: [
          { contributor: 's1', text: 'C!' },
          { contributor: 's2', text: 'c?' },
        ],
        chosen: 0,
      },
      {
        about: 'model',
        question: 'Which?',
        choices: [
          { contributor: null, text: 'x' },
          { contributor: 's2', text: 'y' },
        ],
        chosen: 1,
      },
    ],
  }
  const drawn = mergedParts(production, provenance).map(part =>
    part.kind === 'conflict' ? part.conflict.question : part.lines.map(line => `${line.sign}${line.text}`).join(' '),
  )

  it('shows added lines, removed lines and conflicts, in order', () => {
    expect(drawn).toEqual([' a', '−b −c +B1 +B2', 'C?', ' d  e  f', ' g  h  i', ' j  k  l', '+end'])
  })

  it('shows the text itself when none of the choices stands', () => {
    const free = { ...provenance, conflicts: [{ ...provenance.conflicts[0], chosen: null } as never] }
    expect(countConflicts(mergedParts(production, free))).toEqual({ added: 5, removed: 2 })
  })

  it('groups adjacent segments of one conflict, and keeps unchanged lines', () => {
    const wide: Provenance = {
      ...provenance,
      segments: [segment('a\n'), segment('b\n', [], 0), segment('C!\n', ['s1'], 0), segment('d\n'), segment('', [])],
      conflicts: [{ about: 'prompt', question: 'bc?', choices: [{ contributor: 's1', text: 'b\nC!' }], chosen: 0 }],
    }
    const parts = mergedParts('a\nb\nc\nd', wide)
    expect(parts.map(part => (part.kind === 'conflict' ? '?' : part.lines.map(line => line.sign + line.text)))).toEqual(
      [[' a'], ['−c'], '?', [' d']],
    )
  })

  it('survives a text that claims production for what does not stand there', () => {
    const odd = { ...provenance, conflicts: [], segments: [segment('nowhere\n'), segment('l')] }
    expect(countConflicts(mergedParts(production, odd))).toEqual({ added: 0, removed: 11 })
  })

  it('counts whose lines are in it and who disagrees', () => {
    expect(sharesOf(provenance).map(share => [share.name, share.lines, share.conflicts])).toEqual([
      ['s1', 4, 1],
      ['s2', 1, 2],
    ])
    expect(otherConflicts(provenance).map(conflict => conflict.about)).toEqual(['model'])
  })
})
