import { describe, expect, it } from 'vitest'
import { findProblems, isValidField, readFields, writeFields } from './callArguments'

describe('the fields of arguments', () => {
  it('have the kinds of their values, in order', () => {
    expect(readFields('{"to": "a@b", "n": 2, "now": false, "attach": ["x"], "none": null}')).toEqual([
      { name: 'to', kind: 'text', text: 'a@b' },
      { name: 'n', kind: 'number', text: '2' },
      { name: 'now', kind: 'boolean', text: 'false' },
      { name: 'attach', kind: 'json', text: '[\n "x"\n]' },
      { name: 'none', kind: 'json', text: 'null' },
    ])
  })

  it.each(['[1]', '{', '"x"', '{"id": 12345678901234567890}', '{"n": 1e999}'])('are not made of %s', text => {
    expect(readFields(text)).toBeNull()
  })

  it('may have long numbers in texts', () => {
    expect(readFields('{"card": "1234567890123456"}')).toHaveLength(1)
  })

  it('are written back as they were read', () => {
    const text = '{"to":"出錯了 😀","n":2,"now":false,"attach":["x"]}'
    expect(writeFields(readFields(text) ?? [])).toBe(text)
  })

  it('have the problems whose path begins with their name', () => {
    const problems = ['name: too short', 'names.0: wrong', 'arguments: no object', 'name.first: wrong']
    expect(findProblems(problems, 'name')).toEqual(['name: too short', 'name.first: wrong'])
  })

  it.each([
    ['number', '2', true],
    ['number', '"2"', false],
    ['boolean', 'true', true],
    ['boolean', 'yes', false],
    ['json', '[', false],
    ['text', '{', true],
  ] as const)('check a %s: %s', (kind, text, isValid) => {
    expect(isValidField(kind, text)).toBe(isValid)
  })
})
