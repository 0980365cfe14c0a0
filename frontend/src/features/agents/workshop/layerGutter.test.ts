import { Chunk } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { hasFoldableLines, layerGutter, listBars, setLowerLayers } from './layerGutter'

const buildLines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)
const joinLines = (all: readonly string[]) => all.join('\n')
const changeLine = (all: readonly string[], at: number) => all.with(at, `${all[at]}!`)

describe('folding unchanged lines', () => {
  it('hides nothing of a short text', () => {
    expect(hasFoldableLines(joinLines(buildLines(5)), joinLines(changeLine(buildLines(5), 2)))).toBe(false)
    expect(hasFoldableLines('', 'new')).toBe(false)
  })

  it('hides lines far from every change', () => {
    expect(hasFoldableLines(joinLines(buildLines(40)), joinLines(changeLine(buildLines(40), 0)))).toBe(true)
    expect(hasFoldableLines(joinLines(buildLines(40)), joinLines(changeLine(buildLines(40), 39)))).toBe(true)
    expect(hasFoldableLines(joinLines(buildLines(40)), joinLines(changeLine(changeLine(buildLines(40), 0), 39)))).toBe(
      true,
    )
    expect(hasFoldableLines(joinLines(buildLines(8)), joinLines(changeLine(changeLine(buildLines(8), 0), 7)))).toBe(
      false,
    )
  })

  it('hides lines of a long unchanged text', () => {
    expect(hasFoldableLines(joinLines(buildLines(40)), joinLines(buildLines(40)))).toBe(true)
  })
})

describe('the bars beside lines', () => {
  const open = (doc: string, production: string, applied: string | null) =>
    EditorState.create({ doc, extensions: layerGutter }).update({ effects: setLowerLayers.of({ production, applied }) })
      .state

  it('show the layer of each line and follow edits', () => {
    const state = open('one\ntwo, applied\nthree', 'one\ntwo\nthree', 'one\ntwo, applied\nthree')
    expect([...listBars(state)]).toEqual([[2, 'applied']])
    const typed = state.update({ changes: { from: state.doc.length, insert: '\nfour' } }).state
    expect([...listBars(typed)]).toEqual([
      [2, 'applied'],
      [4, 'writing'],
    ])
    const undone = typed.update({ changes: { from: state.doc.length, to: typed.doc.length } }).state
    expect([...listBars(undone)]).toEqual([[2, 'applied']])
  })

  it('mark blank lines added next to blank lines', () => {
    expect([...listBars(open('\n\na', '\na', null))]).toHaveLength(1)
    expect([...listBars(open('\n\n\na', '\na', null))]).toHaveLength(2)
    expect([...listBars(open('one\n\n\n\ntwo', 'one\n\ntwo', null))]).toHaveLength(2)
    expect([...listBars(open('\na', '\n\na', null))]).toEqual([])
  })

  it('leave only lines of production unmarked, in order, after any edits', () => {
    const line = fc.constantFrom('a', 'b', 'c', '')
    const texts = fc.array(line, { maxLength: 12 }).map(joinLines)
    const edits = fc.array(fc.record({ from: fc.nat(40), length: fc.nat(8), insert: texts }), { maxLength: 8 })
    fc.assert(
      fc.property(texts, texts, edits, (production, doc, changes) => {
        let state = open(doc, production, null)
        for (const { from, length, insert } of changes) {
          const start = Math.min(from, state.doc.length)
          const end = Math.min(start + length, state.doc.length)
          state = state.update({ changes: { from: start, to: end, insert } }).state
        }
        const bars = listBars(state)
        const plain = state.doc
          .toString()
          .split('\n')
          .filter((_, at) => !bars.has(at + 1))
        const remaining = production.split('\n')
        for (const line of plain) {
          const at = remaining.indexOf(line)
          expect(at).toBeGreaterThanOrEqual(0)
          remaining.splice(0, at + 1)
        }
      }),
    )
  })

  it('are updated without comparing the whole text again on each key', () => {
    const state = open(
      joinLines(buildLines(500)),
      joinLines(changeLine(buildLines(500), 9)),
      joinLines(buildLines(500)),
    )
    const build = vi.spyOn(Chunk, 'build')
    const typed = state.update({ changes: { from: 0, insert: 'x' } }).state
    expect([...listBars(typed).keys()]).toEqual([1, 10])
    expect(build).not.toHaveBeenCalled()
    build.mockRestore()
  })
})
