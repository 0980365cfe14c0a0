import { describe, expect, it } from 'vitest'
import { parseDiff } from './lineDiff'

describe('the lines of a diff', () => {
  it('have a sign each, without line numbers', () => {
    const lines = parseDiff('@@ -1,2 +1,2 @@\n same\n-old\n+- new\n@@ -9 +9 @@\n-gone')
    expect(lines.map(({ sign, text }) => sign + text)).toEqual([' same', '−old', '+- new', '…', '−gone'])
  })

  it('are empty when the prompt is unchanged', () => {
    expect(parseDiff('')).toEqual([])
  })
})
