import { expect, it } from 'vitest'
import { detectLanguage } from './textLanguage'

it('distinguishes the regions of Chinese, and leaves shared characters to the page', () => {
  expect(detectLanguage('三条那间我去看过，大堂有无障碍坡道')).toBe('zh-Hans')
  expect(detectLanguage('好，先幫 14 位保留。這樣可以嗎？')).toBe('zh-Hant')
  expect(detectLanguage('你好')).toBeUndefined()
  expect(detectLanguage('お願いします')).toBe('ja')
  expect(detectLanguage('Hello 你')).toBeUndefined()
})

it('says that it does not know where the letters are those of many languages', () => {
  expect(detectLanguage('Hello')).toBe('')
  expect(detectLanguage('Bonjour à tous')).toBe('')
  expect(detectLanguage('שלום')).toBe('')
  expect(detectLanguage('12 : 30')).toBeUndefined()
})
