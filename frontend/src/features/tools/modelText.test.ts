import { expect, it } from 'vitest'
import { buildModelText, listDefinitionChanges } from './modelText'

const tool = {
  title: '',
  description: 'Send it.',
  input_schema: { type: 'object' },
  output_schema: null,
  annotations: {},
  request: null,
}

it('joins the title, the description and the schema', () => {
  expect(buildModelText({ title: 'Send', description: 'Sends mail.', input_schema: { type: 'object' } })).toBe(
    'Send\n\nSends mail.\n\n{\n  "type": "object"\n}',
  )
  expect(buildModelText({ title: '', description: '', input_schema: {} })).toBe('')
})

it('returns the parts that differ, whatever the order of keys', () => {
  const before = { ...tool, annotations: { readOnlyHint: true, title: 'Send' } }
  expect(listDefinitionChanges(before, { ...tool, annotations: { title: 'Send', readOnlyHint: true } })).toEqual([])
  expect(listDefinitionChanges(tool, { ...tool, annotations: { destructiveHint: true } })).toEqual([
    { part: 'annotations', before: '', after: '{\n  "destructiveHint": true\n}' },
  ])
  expect(
    listDefinitionChanges(tool, { ...tool, description: 'Send all.', output_schema: { type: 'string' } }).map(
      change => change.part,
    ),
  ).toEqual(['description', 'output_schema'])
})
