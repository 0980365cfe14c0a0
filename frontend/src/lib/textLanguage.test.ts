import { expect, it } from 'vitest'
import { languageOf } from './textLanguage'

it('distinguishes the regions of Chinese, and leaves shared characters to the page', () => {
  expect(languageOf('三条那间我去看过，大堂有无障碍坡道')).toBe('zh-Hans')
  expect(languageOf('好，先幫 14 位保留。這樣可以嗎？')).toBe('zh-Hant')
  expect(languageOf('你好')).toBeUndefined()
  expect(languageOf('お願いします')).toBe('ja')
  expect(languageOf('Hello 你')).toBeUndefined()
})

it('says that it does not know where the letters are those of many languages', () => {
  expect(languageOf('Hello')).toBe('')
  expect(languageOf('Bonjour à tous')).toBe('')
  expect(languageOf('שלום')).toBe('')
  expect(languageOf('12 : 30')).toBeUndefined()
})
