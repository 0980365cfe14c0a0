import { expect, it } from 'vitest'
import { type AnswerShape, buildSchema, findShapeProblem, newShape, openSchema, toJsonShape } from './answerShape'

const shape: AnswerShape = {
  values: [
    { name: ' total ', kind: 'number' },
    { name: 'days', kind: 'texts' },
  ],
  json: null,
}
const schema = {
  type: 'object',
  properties: { total: { type: 'number' }, days: { type: 'array', items: { type: 'string' } } },
  required: ['total', 'days'],
  additionalProperties: false,
}

it('describes named values by the schema of an object; none is a text', () => {
  expect(buildSchema(shape)).toEqual(schema)
  expect(buildSchema(newShape())).toBeNull()
  expect(buildSchema({ values: [], json: ' ' })).toBeNull()
  expect(buildSchema(toJsonShape(shape))).toEqual(schema)
})

it('opens a schema as values if they describe it wholly, else as its text', () => {
  expect(openSchema(null)).toEqual(newShape())
  expect(openSchema(schema).values.map(({ name }) => name)).toEqual(['total', 'days'])
  const own = { ...schema, required: ['total'] }
  expect(openSchema(own)).toEqual({ values: [], json: JSON.stringify(own, null, 2) })
})

it('finds values without a name or with the same, and text that is no object', () => {
  const named = (...names: string[]) => ({ values: names.map(name => ({ name, kind: 'text' as const })), json: null })
  expect(findShapeProblem(shape)).toBeNull()
  expect(findShapeProblem(named('a', ' '))).toBe('names')
  expect(findShapeProblem(named('a', 'a '))).toBe('names')
  for (const json of ['{', '[]', '"text"']) expect(findShapeProblem({ values: [], json })).toBe('noSchema')
  expect(findShapeProblem({ values: [], json: '{"type": "object"}' })).toBeNull()
})
