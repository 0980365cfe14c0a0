import { expect, test } from 'vitest'
import { buildModelText, markChangedLines } from './modelText'

test('a model reads the title, the description and the schema', () => {
  const schema = { type: 'object' }
  expect(buildModelText({ title: '', description: 'Send it.', input_schema: schema })).toBe(
    'Send it.\n\n{\n  "type": "object"\n}',
  )
  expect(buildModelText({ title: 'Send', description: 'Now.', input_schema: schema })).toMatch(/^Send\n\nNow\.\n\n{/)
})

test('lines that the other text lacks are marked', () => {
  const marked = markChangedLines('a\nb\nc', 'a\nc')
  expect(marked.filter(line => line.isChanged).map(line => line.text)).toEqual(['b'])
  expect(markChangedLines('a').some(line => line.isChanged)).toBe(false)
})
