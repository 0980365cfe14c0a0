import { expect, it } from 'vitest'
import { describeError, listFrames } from './errorReports'

it('lists the frames of a stack without the message of the error', () => {
  const chrome = `SyntaxError: "my secret" is not valid JSON
    at JSON.parse (<anonymous>)
    at read (https://atelier.example/static/assets/chats-LLzUyTON.js:1:2077)
    at https://atelier.example/static/assets/index-7y1qEw2y.js:12:3`
  expect(listFrames(chrome, '"my secret" is not valid JSON')).toEqual([
    'chats-LLzUyTON.js:1:2077',
    'index-7y1qEw2y.js:12:3',
  ])
  const firefox = 'read@https://atelier.example/static/assets/chats-LLzUyTON.js:1:2077\n@https://a.example/b.js:1:2'
  expect(listFrames(firefox, 'my secret')).toEqual(['chats-LLzUyTON.js:1:2077', 'b.js:1:2'])
})

it('takes no file names from the message', () => {
  const error = new SyntaxError('"secret.js:1:2" is not valid JSON')
  expect(JSON.stringify(describeError('error', error, ''))).not.toContain('secret')
  const pasted = new SyntaxError(
    '"Look:\n    at secret.js:1:2\nread@https://a.example/secret.js:1:2" is not valid JSON',
  )
  expect(JSON.stringify(describeError('error', pasted, ''))).not.toContain('secret')
  // Without the message: it was changed after the stack was built.
  expect(listFrames('Error: secret.js:1:2\n    at https://a.example/b.js:1:2', '')).toEqual(['b.js:1:2'])
})

it('describes any thrown value within fixed limits', () => {
  const error = new TypeError('my secret')
  expect(JSON.stringify(describeError('error', error, '/w/$workspace'))).not.toContain('secret')
  expect(describeError('error', error, '/w/$workspace')).toMatchObject({ name: 'TypeError', screen: '/w/$workspace' })
  expect(describeError('rejection', 'my secret', 'my secret')).toEqual({
    kind: 'rejection',
    name: 'Unknown',
    screen: '',
    frames: [],
  })
  error.name = 'my secret'
  error.stack = '    at x.js:1:2\n'.repeat(100)
  expect(describeError('error', error, '')).toMatchObject({ name: 'Unknown', frames: Array(8).fill('x.js:1:2') })
})
