import { describe, expect, it } from 'vitest'
import { contributorName, contributorSide, partyNames } from './contributors'

const t = ((_: string, values?: Record<string, unknown>) => Object.values(values ?? {}).join(' for ')) as Parameters<
  typeof contributorName
>[1]

const contributor = (name: string, title = '', in_run_of: string | null = null) => ({
  id: `${name} ${title}`,
  actor_id: name,
  name,
  title,
  in_run_of,
})

describe('contributors', () => {
  it('are named by their person, and an agent by the run that it wrote in', () => {
    expect(contributorName(contributor('Bob', 'Shorter'), t)).toBe('Bob')
    expect(contributorName(contributor('Robin', '', 'Alice'), t)).toBe('Robin for Alice')
  })

  it('are distinguished by what they suggest', () => {
    expect(contributorSide(contributor('Bob', 'Shorter'), t)).toBe('Shorter')
    expect(contributorSide(contributor('Bob'), t)).toBe('Bob')
  })

  it('are parties by name, but by title where one person is both', () => {
    expect(partyNames([contributor('Bob', 'Shorter'), contributor('Carol', 'Louder')], t)).toEqual(['Bob', 'Carol'])
    expect(partyNames([contributor('Bob', 'Shorter'), contributor('Bob', 'Louder')], t)).toEqual(['Shorter', 'Louder'])
  })
})
