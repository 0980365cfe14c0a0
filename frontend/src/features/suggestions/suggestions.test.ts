import { describe, expect, it } from 'vitest'
import type { Provenance } from '@/api'
import en from '@/lib/texts/en.lazy'
import hans from '@/lib/texts/zh-hans.lazy'
import hant from '@/lib/texts/zh-hant.lazy'
import { buildMergedParts, countChangedLines, listFieldConflicts, listShares } from './mergedLines'
import { buildSteps, getPercent } from './mergeSteps'
import { changeSearch, parseSuggestionSearch } from './search'
import {
  getMergeObstacle,
  getRejectObstacle,
  getSelectionState,
  listSelectedRows,
  toggle,
  toggleAll,
} from './selection'
import { actor, merge, suggestion } from './suggestion.testing'
import { getMergeErrorText } from './wording'

const emptySelection: ReadonlySet<string> = new Set()

describe('the selection', () => {
  const rows = [suggestion('s2'), suggestion('s1'), suggestion('s3', { verbs: [] })]

  it('toggles one row or all selectable rows', () => {
    const one = toggle(emptySelection, 's1')
    expect([getSelectionState(rows, emptySelection), getSelectionState(rows, one), toggle(one, 's1').size]).toEqual([
      false,
      'mixed',
      0,
    ])
    const all = toggleAll(rows, one)
    expect([[...all], getSelectionState(rows, all), toggleAll(rows, all).size]).toEqual([['s2', 's1'], true, 0])
  })

  it('drops rows that were decided meanwhile and sorts the oldest first', () => {
    expect(listSelectedRows(rows, new Set(['s1', 's2', 's3', 'gone'])).map(row => row.id)).toEqual(['s1', 's2'])
  })

  it('has a reason why rows cannot be merged', () => {
    const other = suggestion('s4', { agent: actor('owl', { kind: 'agent' }) })
    const many = Array.from({ length: 21 }, (_, index) => suggestion(`s${index}`))
    expect(getMergeObstacle([])).toBe('pickFirst')
    expect(getMergeObstacle([suggestion('s1'), other])).toBe('oneAgentOnly')
    expect(getMergeObstacle(many)).toBe('tooManyToMerge')
    expect(getMergeObstacle([suggestion('s1', { verbs: ['reject'] })])).toBe('notYoursToDecide')
    expect(getMergeObstacle([suggestion('s1'), suggestion('s2')])).toBeNull()
    expect([getRejectObstacle([]), getRejectObstacle([suggestion('s1'), other])]).toEqual(['pickFirst', null])
  })
})

describe('the URL', () => {
  it('keeps known parameters and drops the others', () => {
    expect(parseSuggestionSearch({ state: 'accepted', agent: 'a', s: '', m: 7, x: 'y' })).toEqual({
      state: 'accepted',
      agent: 'a',
    })
    expect(parseSuggestionSearch({ state: 'odd' })).toEqual({})
  })

  it('changes and removes parameters', () => {
    expect(changeSearch({ state: 'rejected', s: 'one' }, { s: undefined, m: 'two' })).toEqual({
      state: 'rejected',
      m: 'two',
    })
  })
})

/** The codes of the server's `suggestions.merge_answer.Why`. */
const answerCodes = [
  ...['answer_too_long', 'answer_no_json', 'answer_wrong_shape', 'answer_unknown_source', 'answer_unknown_choice'],
  ...['answer_own_words', 'answer_leaves_out', 'answer_drops', 'answer_prompt_too_long'],
]

describe('the error of a merge', () => {
  const describeIn = (texts: Record<string, string>, error_code: string | null, state: 'failed' | 'done' = 'failed') =>
    getMergeErrorText({ state, error_code }, key => texts[key] ?? key)

  it.each([[en], [hant], [hans]])('has a distinct text for each code', texts => {
    const all = [
      'draft_locked',
      'other_draft_locked',
      'not_found',
      'forbidden',
      'too_large',
      'internal',
      'no_such_code',
    ]
    const descriptions = [
      ...all.map(code => describeIn(texts, code)),
      ...answerCodes.map(code => describeIn(texts, code, 'done')),
    ]
    expect(new Set(descriptions).size).toBe(all.length + answerCodes.length)
    expect(descriptions.filter(text => text.includes('getMergeErrorText'))).toEqual([])
  })

  it('has texts for the errors of a model', () => {
    expect(describeIn(en, 'timeout_idle', 'done')).toBe('Its model took too long.')
    expect(describeIn(en, 'not_found', 'done')).toBe("Its model doesn't work with the current settings.")
    expect(describeIn(en, null, 'done')).toBe('')
  })
})

describe('the steps of a merge', () => {
  const listStates = (...[row, written]: Parameters<typeof buildSteps>) =>
    buildSteps(row, written).map(step => step.state)

  it('advance with the written characters', () => {
    expect(listStates(merge({ state: 'waiting' }), null)).toEqual(['now', 'todo', 'todo', 'todo'])
    expect(listStates(merge({ state: 'waiting' }), { done: 1, expected: 9 })).toEqual(['done', 'now', 'todo', 'todo'])
    expect(listStates(merge(), null)).toEqual(['done', 'now', 'todo', 'todo'])
    expect(listStates(merge(), { done: 95, expected: 100 })).toEqual(['done', 'done', 'now', 'todo'])
    expect(listStates(merge({ state: 'done' }), null)).toEqual(['done', 'done', 'done', 'done'])
  })

  it('show where a merge ended', () => {
    const provenance: Provenance = { origin: 'merge', merge_id: null, contributors: [], segments: [], conflicts: [] }
    expect(listStates(merge({ state: 'failed', provenance }), null)).toEqual(['done', 'done', 'done', 'failed'])
    expect(listStates(merge({ state: 'stopped' }), null)).toEqual(['done', 'todo', 'todo', 'todo'])
  })

  it('stay below 100 % until the merge is done and never go back', () => {
    const percents = [0, 10, 60, 100, 900].map(done => getPercent(merge(), { done, expected: 100 }))
    expect(percents).toEqual([12, 20, 60, 92, 92])
    expect([getPercent(merge({ state: 'waiting' }), null), getPercent(merge({ state: 'done' }), null)]).toEqual([
      4, 100,
    ])
    expect(getPercent(merge(), { done: 3, expected: 0 })).toBe(12)
  })
})

describe('a merged text', () => {
  const basePrompt = 'abcdefghijkl'.split('').join('\n')
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
  const formatted = buildMergedParts(basePrompt, provenance).map(part =>
    part.kind === 'conflict' ? part.conflict.question : part.lines.map(line => `${line.sign}${line.text}`).join(' '),
  )

  it('shows added lines, removed lines and conflicts, in order', () => {
    expect(formatted).toEqual([' a', '−b −c +B1 +B2', 'C?', ' d  e  f', ' g  h  i', ' j  k  l', '+end'])
  })

  it('shows the text itself when it matches none of the choices', () => {
    const edited = { ...provenance, conflicts: [{ ...provenance.conflicts[0], chosen: null } as never] }
    expect(countChangedLines(buildMergedParts(basePrompt, edited))).toEqual({ added: 5, removed: 2 })
  })

  it('groups adjacent segments of one conflict, and keeps unchanged lines', () => {
    const wide: Provenance = {
      ...provenance,
      segments: [segment('a\n'), segment('b\n', [], 0), segment('C!\n', ['s1'], 0), segment('d\n'), segment('', [])],
      conflicts: [{ about: 'prompt', question: 'bc?', choices: [{ contributor: 's1', text: 'b\nC!' }], chosen: 0 }],
    }
    const parts = buildMergedParts('a\nb\nc\nd', wide)
    expect(parts.map(part => (part.kind === 'conflict' ? '?' : part.lines.map(line => line.sign + line.text)))).toEqual(
      [[' a'], ['−c'], '?', [' d']],
    )
  })

  it('accepts segments marked as unchanged that the base does not contain', () => {
    const odd = { ...provenance, conflicts: [], segments: [segment('nowhere\n'), segment('l')] }
    expect(countChangedLines(buildMergedParts(basePrompt, odd))).toEqual({ added: 0, removed: 11 })
  })

  it('counts the lines and conflicts of each contributor', () => {
    expect(listShares(provenance).map(share => [share.name, share.lines, share.conflicts])).toEqual([
      ['s1', 4, 1],
      ['s2', 1, 2],
    ])
    expect(listFieldConflicts(provenance).map(conflict => conflict.about)).toEqual(['model'])
  })
})
