import { expect, it } from 'vitest'
import { listTestFields, readTestArguments } from './testArguments'

const schema = {
  type: 'object',
  properties: {
    to: { type: 'string', description: 'A city.' },
    count: { type: 'integer' },
    direct: { type: 'boolean' },
    class: { type: 'string', enum: ['first', 'second'] },
    legs: { type: 'array' },
    any: true,
  },
  required: ['to', 'legs'],
}
const fields = listTestFields(schema)

it('has a field for each property of the schema', () => {
  expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['to', 'text', true],
    ['count', 'number', false],
    ['direct', 'boolean', false],
    ['class', 'choice', false],
    ['legs', 'json', true],
    ['any', 'json', false],
  ])
  expect(fields[0]?.description).toBe('A city.')
  expect(listTestFields({ type: 'object' })).toEqual([])
})

it('leaves out empty fields that are not required', () => {
  expect(readTestArguments(fields, { legs: '[]' })).toEqual({ to: '', legs: [] })
  const texts = { to: '3', count: '4', direct: 'false', class: 'first', legs: '[1]', any: '"x"' }
  expect(readTestArguments(fields, texts)).toEqual({
    to: '3',
    count: 4,
    direct: false,
    class: 'first',
    legs: [1],
    any: 'x',
  })
})

it.each([{ legs: '' }, { legs: '[' }, { legs: '[]', count: 'four' }, { legs: '[]', class: 'third' }])(
  'refuses %o',
  texts => expect(readTestArguments(fields, texts)).toBeNull(),
)
