import { Chunk } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { barsIn, hidesLines, layerGutter, setBelow } from './layerGutter'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`)
const text = (all: readonly string[]) => all.join('\n')
const changed = (all: readonly string[], at: number) => all.with(at, `${all[at]}!`)

describe('folding what is unchanged', () => {
  it('hides nothing of a short text', () => {
    expect(hidesLines(text(lines(5)), text(changed(lines(5), 2)))).toBe(false)
    expect(hidesLines('', 'new')).toBe(false)
  })

  it('hides what is far from each change', () => {
    expect(hidesLines(text(lines(40)), text(changed(lines(40), 0)))).toBe(true)
    expect(hidesLines(text(lines(40)), text(changed(lines(40), 39)))).toBe(true)
    expect(hidesLines(text(lines(40)), text(changed(changed(lines(40), 0), 39)))).toBe(true)
    expect(hidesLines(text(lines(8)), text(changed(changed(lines(8), 0), 7)))).toBe(false)
  })

  it('hides a long text in which nothing is changed', () => {
    expect(hidesLines(text(lines(40)), text(lines(40)))).toBe(true)
  })
})

describe('the bars beside lines', () => {
  const open = (doc: string, production: string, applied: string | null) =>
    EditorState.create({ doc, extensions: layerGutter }).update({ effects: setBelow.of({ production, applied }) }).state

  it('say which layer a line is of, and follow what is typed', () => {
    const state = open('one\ntwo, applied\nthree', 'one\ntwo\nthree', 'one\ntwo, applied\nthree')
    expect([...barsIn(state)]).toEqual([[2, 'applied']])
    const typed = state.update({ changes: { from: state.doc.length, insert: '\nfour' } }).state
    expect([...barsIn(typed)]).toEqual([
      [2, 'applied'],
      [4, 'writing'],
    ])
    const undone = typed.update({ changes: { from: state.doc.length, to: typed.doc.length } }).state
    expect([...barsIn(undone)]).toEqual([[2, 'applied']])
  })

  it('stand beside blank lines that are added to blank lines', () => {
    expect([...barsIn(open('\n\na', '\na', null))]).toHaveLength(1)
    expect([...barsIn(open('\n\n\na', '\na', null))]).toHaveLength(2)
    expect([...barsIn(open('one\n\n\n\ntwo', 'one\n\ntwo', null))]).toHaveLength(2)
    expect([...barsIn(open('\na', '\n\na', null))]).toEqual([])
  })

  it('are right after any edits: what has no bar stands in production, in this order', () => {
    const line = fc.constantFrom('a', 'b', 'c', '')
    const texts = fc.array(line, { maxLength: 12 }).map(text)
    const edits = fc.array(fc.record({ from: fc.nat(40), length: fc.nat(8), insert: texts }), { maxLength: 8 })
    fc.assert(
      fc.property(texts, texts, edits, (production, doc, changes) => {
        let state = open(doc, production, null)
        for (const { from, length, insert } of changes) {
          const start = Math.min(from, state.doc.length)
          const end = Math.min(start + length, state.doc.length)
          state = state.update({ changes: { from: start, to: end, insert } }).state
        }
        const bars = barsIn(state)
        const plain = state.doc
          .toString()
          .split('\n')
          .filter((_, at) => !bars.has(at + 1))
        const below = production.split('\n')
        for (const each of plain) {
          const at = below.indexOf(each)
          expect(at).toBeGreaterThanOrEqual(0)
          below.splice(0, at + 1)
        }
      }),
    )
  })

  it('are not found by comparing the whole text again with each key', () => {
    const state = open(text(lines(500)), text(changed(lines(500), 9)), text(lines(500)))
    const build = vi.spyOn(Chunk, 'build')
    const typed = state.update({ changes: { from: 0, insert: 'x' } }).state
    expect([...barsIn(typed).keys()]).toEqual([1, 10])
    expect(build).not.toHaveBeenCalled()
    build.mockRestore()
  })
})
