import { describe, expect, it } from 'vitest'
import type { SystemMessageRow, SystemPayload } from '@/api'
import { systemRow } from '@/testing/rows'
import { buildSystemText } from './system'

const build = (type: SystemMessageRow['type'], payload: Partial<SystemPayload>) =>
  buildSystemText(
    systemRow(type, payload),
    (_, kept) => kept,
    names => names.join(' & '),
  )

const people = { actor_name: 'Ann', target_id: 'a', target_name: 'Scribe' }

describe('a system message', () => {
  it('about a suggestion links to it and has its note and summary', () => {
    const text = build('SUGGESTION_CREATED', {
      ...people,
      suggestion_id: 's',
      note: 'shorter',
      summary: 'Asks for shorter answers.',
      summary_state: 'ready',
    })
    expect(text).toMatchObject({
      key: 'sys.suggested',
      icon: 'suggestion',
      quote: 'shorter',
      suggestionId: 's',
      summary: { state: 'ready', text: 'Asks for shorter answers.' },
    })
  })

  it('about a rejection names the author of the suggestion and the reason', () => {
    const text = build('SUGGESTION_REJECTED', { ...people, authors: ['Carol'], note: 'too short' })
    expect(text).toMatchObject({ key: 'sys.rejectedOf', quote: 'too short', summary: null })
    expect(text?.values['authors']).toBe('Carol')
  })

  it('about a discarded draft names the others whose changes were in it', () => {
    expect(build('DRAFT_DISCARDED', { ...people, authors: ['Carol'] })).toMatchObject({ key: 'sys.discardedOf' })
    expect(build('DRAFT_DISCARDED', people)).toMatchObject({ key: 'sys.discarded' })
  })

  it('about a merge names all authors and links to the draft', () => {
    const text = build('DRAFT_MERGED', { ...people, authors: ['Bob', 'Carol'], merge_id: 'm' })
    expect(text).toMatchObject({ key: 'sys.merged', icon: 'writing', draftOf: 'a' })
    expect(text?.values['authors']).toBe('Bob & Carol')
  })

  it('about a draft that an agent wrote for a person names the agent', () => {
    expect(build('DRAFT_STARTED', { ...people, via: 'Scribe' })).toMatchObject({
      key: 'sys.draftSelf',
      draftOf: 'a',
    })
    expect(build('DRAFT_STARTED', { ...people, via: 'Editor' })).toMatchObject({
      key: 'sys.draftVia',
      draftOf: 'a',
    })
    expect(build('DRAFT_STARTED', people)).toMatchObject({ key: 'sys.draft', draftOf: null })
  })

  it('about a person who joins names the agent that answers only when mentioned from now on', () => {
    const wake = { mention_only_id: 'r', mention_only_name: 'Robin' }
    expect(build('MEMBER_JOINED', { ...people, ...wake })).toMatchObject({ key: 'sys.joinedMentionOnly' })
    const text = build('MEMBER_JOINED', { actor_name: 'Bob', ...wake })
    expect(text).toMatchObject({ key: 'sys.joinedAloneMentionOnly', values: { actor: 'Bob', agent: 'Robin' } })
  })

  it('about the creator of a chat does not say that they were added', () => {
    const first = systemRow('MEMBER_JOINED', { actor_id: 'ann', actor_name: 'Ann', target_id: 'ann' }, { seq: 1 })
    const text = buildSystemText(
      first,
      (_, kept) => kept,
      names => names.join(' & '),
    )
    expect(text).toMatchObject({ key: 'sys.createdAlone', values: { actor: 'Ann' } })
  })

  it.each([
    ['AGENT_PUBLISHED', '', 'sys.agentPublished'],
    ['AGENT_PUBLISHED', 'Korean', 'sys.agentPublishedNote'],
    ['AGENT_TAKEN_DOWN', 'It was wrong.', 'sys.agentTakenDownNote'],
  ] as const)('%s with the note “%s” links to the public agent', (type, note, key) => {
    expect(build(type, { ...people, note, version: 2 })).toMatchObject({ key, publicAgentId: 'a', draftOf: null })
  })

  it('about a saved version links to no public agent', () => {
    expect(build('SPEC_SAVED', people)).toMatchObject({ publicAgentId: null })
  })

  it('of an unknown type is left out', () => {
    expect(build('SOMETHING_NEW' as never, people)).toBeNull()
  })
})
