import { expect, it } from 'vitest'
import type { AgentRow, DirectoryDetailRow, PublicationRow } from '@/api'
import { buildInitialValues } from './storedPublication'

const agent = { actor: { name: 'Robin', handle: 'robin', description: null } } as Pick<AgentRow, 'actor'> as AgentRow
const listing = {
  actor: { name: 'Interpreter', handle: 'interpreter', description: 'Translates.' },
  category: 'language',
  languages: ['ja'],
  examples: ['Hello'],
} as DirectoryDetailRow
const takedown = {
  name: 'Old',
  handle: 'old',
  description: 'Was wrong.',
  category: 'data',
  languages: ['ko'],
  examples: ['Once'],
} as PublicationRow['takedowns'][number]

it('begins with the agent, in the language of the person', () => {
  expect(buildInitialValues(agent, { listing: null, takedowns: [] }, 'zh-hant')).toEqual({
    version: null,
    message: '',
    name: 'Robin',
    handle: 'robin',
    description: '',
    category: 'other',
    languages: ['zh-hant'],
    examples: [],
  })
})

it('begins with what is public', () => {
  expect(buildInitialValues(agent, { listing, takedowns: [takedown] }, 'en')).toMatchObject({
    name: 'Interpreter',
    handle: 'interpreter',
    description: 'Translates.',
    category: 'language',
    languages: ['ja'],
    examples: ['Hello'],
  })
})

it('begins with what was taken down last, so that it is published anew in one step', () => {
  expect(buildInitialValues(agent, { listing: null, takedowns: [takedown] }, 'en')).toMatchObject({
    name: 'Old',
    handle: 'old',
    description: 'Was wrong.',
    category: 'data',
    languages: ['ko'],
    examples: ['Once'],
  })
})
