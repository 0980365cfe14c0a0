import { expect, it } from 'vitest'
import { buildPattern } from './highlight'

const find = (query: string, text: string) => text.match(buildPattern(query) ?? /(?!)/g) ?? []

it('finds the beginnings of words, and Chinese as it is written', () => {
  expect(find('price TEA', 'The Prices of green tea, enterprice')).toEqual(['Price', 'tea'])
  expect(find('api', '用API開發，xapi')).toEqual(['API'])
  expect(find('導遊我', '祇園的導遊我問，導遊')).toEqual(['導遊我', '導遊'])
  expect(find('貓', '貓和熊貓')).toEqual(['貓', '貓'])
  expect(find('50% (.*)', '50%_off 50')).toEqual(['50', '50'])
})

it('finds nothing for a query without words', () => {
  expect(buildPattern('.*+? 🎉')).toBeNull()
})
