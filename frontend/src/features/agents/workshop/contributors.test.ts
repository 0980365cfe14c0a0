import { describe, expect, it } from 'vitest'
import { getContributorLabel, getContributorName, listContributorNames } from './contributors'

const t = ((_: string, values?: Record<string, unknown>) => Object.values(values ?? {}).join(' for ')) as Parameters<
  typeof getContributorName
>[1]

const contributor = (name: string, title = '', in_run_of: string | null = null) => ({
  id: `${name} ${title}`,
  actor_id: name,
  name,
  title,
  in_run_of,
})

describe('contributors', () => {
  it('have the name of their author, agents also the name of the person whose run it was', () => {
    expect(getContributorName(contributor('Bob', 'Shorter'), t)).toBe('Bob')
    expect(getContributorName(contributor('Robin', '', 'Alice'), t)).toBe('Robin for Alice')
  })

  it('are distinguished by the titles of their suggestions', () => {
    expect(getContributorLabel(contributor('Bob', 'Shorter'), t)).toBe('Shorter')
    expect(getContributorLabel(contributor('Bob'), t)).toBe('Bob')
  })

  it('are listed by name, but by title when all are by the same person', () => {
    expect(listContributorNames([contributor('Bob', 'Shorter'), contributor('Carol', 'Louder')], t)).toEqual([
      'Bob',
      'Carol',
    ])
    expect(listContributorNames([contributor('Bob', 'Shorter'), contributor('Bob', 'Louder')], t)).toEqual([
      'Shorter',
      'Louder',
    ])
  })
})
