import { describe, expect, it } from 'vitest'
import { diffLines } from './lineDiff'

describe('the lines of a diff', () => {
  it('carry their signs, and name no places', () => {
    const lines = diffLines('@@ -1,2 +1,2 @@\n same\n-old\n+- new\n@@ -9 +9 @@\n-gone')
    expect(lines.map(({ sign, text }) => sign + text)).toEqual([' same', '−old', '+- new', '…', '−gone'])
  })

  it('are none where the prompt is the same', () => {
    expect(diffLines('')).toEqual([])
  })
})
