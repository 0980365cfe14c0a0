import { expect, it } from 'vitest'
import { showHiddenCharacters } from './hiddenCharacters'

it.each([
  ['a\u202Egnp.exe', 'a⟨U+202E⟩gnp.exe'],
  ['pay\u200Bpal', 'pay⟨U+200B⟩pal'],
  ['\u{E0041}x', '⟨U+E0041⟩x'],
  ['two\nlines\tand 出錯了 👩‍💻', 'two\nlines\tand 出錯了 👩‍💻'],
])('shows hidden characters of %j', (text, shown) => {
  expect(showHiddenCharacters(text)).toBe(shown)
})
