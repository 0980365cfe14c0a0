import { expect, it } from 'vitest'
import type { ListedSuggestionRow, SpecRow } from '@/api'
import type { Texts } from '@/lib/language'
import { describeOrigin } from './origin'

const spec = { origin: 'draft', base_version: 1 } as SpecRow
const buildSuggestion = (name: string) => ({ author: { name } }) as ListedSuggestionRow
const t = ((key: string, values: object = {}) => [key, ...Object.values(values)].join(' / ')) as Texts['t']

it('names each author of the suggestions in a version once', () => {
  expect(describeOrigin(t, spec, [buildSuggestion('Bob')])).toBe('origin.suggestionsOf / 1 / Bob')
  expect(describeOrigin(t, spec, [buildSuggestion('Bob'), buildSuggestion('Carol')])).toBe(
    'origin.suggestionsOf / 2 / Bob and Carol',
  )
  expect(describeOrigin(t, spec, [buildSuggestion('Bob'), buildSuggestion('Carol'), buildSuggestion('Bob')])).toBe(
    'origin.suggestionsOf / 3 / Bob and Carol',
  )
  expect(describeOrigin(t, spec, [])).toBe('origin.draft')
})
