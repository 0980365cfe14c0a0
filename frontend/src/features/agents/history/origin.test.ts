import { expect, it } from 'vitest'
import type { ListedSuggestionRow, SpecRow } from '@/api'
import type { Texts } from '@/lib/language'
import { originText } from './origin'

const spec = { origin: 'draft', base_number: 1 } as SpecRow
const by = (name: string) => ({ author: { name } }) as ListedSuggestionRow
const t = ((key: string, values: object = {}) => [key, ...Object.values(values)].join(' / ')) as Texts['t']

it('names each author of the suggestions that went into a version once', () => {
  expect(originText(t, spec, [by('Bob')])).toBe('origin.suggestionsOf / 1 / Bob')
  expect(originText(t, spec, [by('Bob'), by('Carol')])).toBe('origin.suggestionsOf / 2 / Bob and Carol')
  expect(originText(t, spec, [by('Bob'), by('Carol'), by('Bob')])).toBe('origin.suggestionsOf / 3 / Bob and Carol')
  expect(originText(t, spec, [])).toBe('origin.draft')
})
