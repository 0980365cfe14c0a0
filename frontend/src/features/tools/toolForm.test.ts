import { expect, it } from 'vitest'
import type { WorkspaceToolRow } from '@/api'
import { buildForm } from './toolForm'

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
