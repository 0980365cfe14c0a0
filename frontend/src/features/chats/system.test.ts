import { describe, expect, it } from 'vitest'
import type { SystemMessageRow, SystemPayload } from '@/api'
import { systemRow } from '@/testing/rows'
import { systemLineOf } from './system'

const lineOf = (type: SystemMessageRow['type'], payload: Partial<SystemPayload>) =>
  systemLineOf(
    systemRow(type, payload),
    (_, kept) => kept,
    names => names.join(' & '),
  )

const people = { actor_name: 'Ann', target_id: 'a', target_name: 'Scribe' }

describe('a system line', () => {
  it('of a suggestion leads to it, with the note and the summary under it', () => {
    const line = lineOf('SUGGESTION_CREATED', {
      ...people,
      suggestion_id: 's',
      note: 'shorter',
      summary: 'Asks for shorter answers.',
      summary_state: 'ready',
    })
    expect(line).toMatchObject({
      key: 'sys.suggested',
      sign: 'suggestion',
      quote: 'shorter',
      suggestionId: 's',
      summary: { state: 'ready', text: 'Asks for shorter answers.' },
    })
  })

  it('of a rejection says whose suggestion it was, and why', () => {
    const line = lineOf('SUGGESTION_REJECTED', { ...people, authors: ['Carol'], note: 'too short' })
    expect(line).toMatchObject({ key: 'sys.rejectedOf', quote: 'too short', summary: null })
    expect(line?.values['authors']).toBe('Carol')
  })

  it('of a merge names everybody and leads to the draft', () => {
    const line = lineOf('DRAFT_MERGED', { ...people, authors: ['Bob', 'Carol'], merge_id: 'm' })
    expect(line).toMatchObject({ key: 'sys.merged', sign: 'writing', draftOf: 'a' })
    expect(line?.values['authors']).toBe('Bob & Carol')
  })

  it('of a draft that an agent wrote for somebody says so', () => {
    expect(lineOf('DRAFT_STARTED', { ...people, via: 'Scribe' })).toMatchObject({ key: 'sys.draftSelf', draftOf: 'a' })
    expect(lineOf('DRAFT_STARTED', { ...people, via: 'Editor' })).toMatchObject({ key: 'sys.draftVia', draftOf: 'a' })
    expect(lineOf('DRAFT_STARTED', people)).toMatchObject({ key: 'sys.draft', draftOf: null })
  })

  it('of somebody who joins says which agent answers only when mentioned from now on', () => {
    const wake = { wake_id: 'r', wake_name: 'Robin' }
    expect(lineOf('MEMBER_JOINED', { ...people, ...wake })).toMatchObject({ key: 'sys.joinedWake' })
    const line = lineOf('MEMBER_JOINED', { actor_name: 'Bob', ...wake })
    expect(line).toMatchObject({ key: 'sys.joinedAloneWake', values: { actor: 'Bob', agent: 'Robin' } })
  })

  it('of whoever starts a chat does not say that they were added', () => {
    const first = systemRow('MEMBER_JOINED', { actor_id: 'ann', actor_name: 'Ann', target_id: 'ann' }, { seq: 1 })
    const line = systemLineOf(
      first,
      (_, kept) => kept,
      names => names.join(' & '),
    )
    expect(line).toMatchObject({ key: 'sys.createdAlone', values: { actor: 'Ann' } })
  })

  it('of a type that is not known here is left out', () => {
    expect(lineOf('SOMETHING_NEW' as never, people)).toBeNull()
  })
})
