import { expect, it } from 'vitest'
import { detectLanguage } from './textLanguage'

it('distinguishes simplified and traditional Chinese, and returns undefined for shared characters', () => {
  expect(detectLanguage('三条那间我去看过，大堂有无障碍坡道')).toBe('zh-Hans')
  expect(detectLanguage('好，先幫 14 位保留。這樣可以嗎？')).toBe('zh-Hant')
  expect(detectLanguage('你好')).toBeUndefined()
  expect(detectLanguage('お願いします')).toBe('ja')
  expect(detectLanguage('Hello 你')).toBeUndefined()
})

it('returns an empty tag for scripts that many languages share', () => {
  expect(detectLanguage('Hello')).toBe('')
  expect(detectLanguage('Bonjour à tous')).toBe('')
  expect(detectLanguage('שלום')).toBe('')
  expect(detectLanguage('12 : 30')).toBeUndefined()
})
