import { expect, it } from 'vitest'
import type { WorkspaceToolRow } from '@/api'
import { buildArgument, buildForm, findPathProblems, matchPath } from './toolForm'

const tool = {
  description: 'Hold seats.',
  effect: 'write',
  input_schema: {
    type: 'object',
    properties: {
      fare: { type: 'string' },
      seats: { type: 'integer', description: 'How many' },
      names: { type: 'array', items: { type: 'string' }, maxItems: 100 },
    },
    required: ['fare', 'seats'],
    additionalProperties: false,
  },
  request: {
    method: 'POST',
    path: '/fares/{fare}/holds',
    body: 'form',
    is_from_root: false,
    content_type: '',
    arguments: [
      { name: 'fare', where: 'path', target: '', style: '', explode: false },
      { name: 'seats', where: 'body', target: 'seat_count', style: '', explode: false },
      { name: 'names', where: 'body', target: '', style: '', explode: false },
    ],
  },
} as Partial<WorkspaceToolRow> as WorkspaceToolRow

it('returns the form of a stored tool, with every field of its arguments', () => {
  expect(buildForm(tool)).toEqual({
    description: 'Hold seats.',
    method: 'POST',
    path: '/fares/{fare}/holds',
    effect: 'write',
    body: 'form',
    arguments: [
      { name: 'fare', where: 'path', target: '', type: 'string', description: '', is_required: true },
      {
        name: 'seats',
        where: 'body',
        target: 'seat_count',
        type: 'integer',
        description: 'How many',
        is_required: true,
      },
      { name: 'names', where: 'body', target: '', type: 'strings', description: '', is_required: false },
    ],
  })
})

it('returns an empty form for a tool without a request', () => {
  expect(buildForm({ ...tool, request: null })).toMatchObject({ method: 'GET', path: '/', arguments: [] })
})

const argument = (name: string, changes = {}) => ({ ...buildArgument('GET'), name, ...changes })
const inPath = (name: string, changes = {}) => argument(name, { where: 'path', is_required: true, ...changes })

it.each([
  ['of a new path', [], '/orders/{order}', [[inPath('order'), null]]],
  ['that is not closed yet', [], '/orders/{order', []],
  [
    'twice',
    [],
    '/{a}/{b}/{a}',
    [
      [inPath('a'), null],
      [inPath('b'), null],
    ],
  ],
  [
    'that was renamed',
    [inPath('order', { description: 'Its number' }), argument('q')],
    '/o/{id}',
    [
      [inPath('id', { description: 'Its number' }), 0],
      [argument('q'), 1],
    ],
  ],
  ['that is gone', [argument('q'), inPath('order')], '/orders', [[argument('q'), 0]]],
  ['whose name is no word', [], '/o/{編號}', [[inPath('id', { target: '編號' }), null]]],
  [
    'that has another name',
    [inPath('id', { target: 'order' })],
    '/o/{order}',
    [[inPath('id', { target: 'order' }), 0]],
  ],
])('makes the arguments of the path from a name %s', (_what, before, path, after) => {
  const form = { ...buildForm(tool), method: 'GET' as const, arguments: before }
  expect(matchPath(form, path).map(({ argument, from }) => [argument, from])).toEqual(after)
})

it('finds the names that have no argument, and the arguments that the path does not name', () => {
  const form = { ...buildForm(tool), path: '/orders/{order}', arguments: [inPath('id'), argument('q')] }
  expect(findPathProblems(form)).toEqual({ missing: ['order'], unused: ['id'] })
  expect(findPathProblems({ ...form, arguments: [inPath('id', { target: 'order' })] })).toEqual({
    missing: [],
    unused: [],
  })
})
