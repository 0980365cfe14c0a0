import { expect, it } from 'vitest'
import { addCjkSpacing } from './spacing'

it('puts one space between Chinese and Latin or digits, and none elsewhere', () => {
  expect(addCjkSpacing('Bob在此套用了Scribe的草稿r3，共2行', 'zh-Hant')).toBe(
    'Bob 在此套用了 Scribe 的草稿 r3，共 2 行',
  )
  expect(addCjkSpacing('陳怡君 加入', 'zh-Hant')).toBe('陳怡君 加入')
  expect(addCjkSpacing('José加入', 'zh-Hant')).toBe('José 加入')
  expect(addCjkSpacing('Bob在此', 'en')).toBe('Bob在此')
})
