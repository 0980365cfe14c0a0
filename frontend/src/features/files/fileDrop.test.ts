import { expect, it } from 'vitest'
import { hasFiles, isFileOnly } from './fileDrop'

it('distinguishes a file from text that was copied with an image', () => {
  expect(hasFiles({ types: ['Files'] })).toBe(true)
  expect(hasFiles({ types: ['text/plain'] })).toBe(false)
  expect(hasFiles(null)).toBe(false)
  expect(isFileOnly({ types: ['Files'] })).toBe(true)
  expect(isFileOnly({ types: ['text/plain', 'text/html', 'Files'] })).toBe(false)
})
