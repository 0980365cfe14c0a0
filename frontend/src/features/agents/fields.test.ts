import { expect, it } from 'vitest'
import { defaultSpec, type SpecContent } from '@/api'
import type { Texts } from '@/lib/language'
import { findControl, getField, getFieldLabel, listFieldChanges, listPathsOfTab, parseField, setField } from './fields'

const web = { tool: 'web_fetch', is_enabled: true, custom_config: { retries: 1 }, usage_instructions: '' }
const content = (change: Partial<SpecContent> = {}): SpecContent => ({ ...defaultSpec, tools: [web], ...change })

const t = ((key: string) => ({ toolIsOn: 'on', toolIsOff: 'off' })[key] ?? key) as Texts['t']

it('names the knowledge pages of a tool, and shows the id of a file that is gone', () => {
  const pages = (...page_ids: string[]) =>
    content({
      tools: [{ tool: 'read_pages', is_enabled: true, usage_instructions: '', custom_config: { page_ids } } as never],
    })
  const names = new Map([['a', 'notes.md']])
  expect(listFieldChanges(pages('a'), pages('a', 'b'), t, id => names.get(id))).toEqual([
    { path: 'tools.read_pages', before: 'on · pages.title: notes.md', after: 'on · pages.title: notes.mdlistJoinb' },
  ])
})

it('lists a changed or added tool with its settings before and after', () => {
  const [tool] = content().tools
  const off = content({ tools: [{ ...tool, is_enabled: false } as never] })
  const more = content({
    tools: [tool as never, { tool: 'current_time', is_enabled: true, usage_instructions: 'UTC' } as never],
  })
  expect(listFieldChanges(content(), off, t)).toEqual([
    { path: 'tools.web_fetch', before: 'on · retries = 1', after: 'off · retries = 1' },
  ])
  expect(listFieldChanges(content(), more, t)).toEqual([{ path: 'tools.current_time', before: '–', after: 'on · UTC' }])
  expect(listFieldChanges(content(), content(), t)).toEqual([])
})

/** Returns another value for a field than it has in `content`, and the text of a choice of a conflict with it. */
function findOtherValue(path: string): [value: unknown, text: string] {
  const control = findControl(path)
  const now = getField(content(), path)
  if (control?.kind === 'number') return [control.max, String(control.max)]
  if (control?.kind === 'agents') return [['browser'], '["browser"]']
  const texts = control?.kind === 'choice' ? Object.keys(control.options) : ['other']
  const text = texts.find(option => option !== now) ?? ''
  return [text, text]
}

it.each([...listPathsOfTab('model'), ...listPathsOfTab('limits'), ...listPathsOfTab('team')])(
  'the field %s is changed, compared, named and read from a choice',
  path => {
    const [value, text] = findOtherValue(path)
    const changed = setField(content(), path, value)
    expect(getField(changed, path)).toEqual(value)
    expect(parseField(path, text)).toEqual(value)
    const isList = findControl(path)?.kind === 'agents'
    expect(listFieldChanges(content(), changed, t).map(change => change.path)).toEqual([
      isList ? `${path}.browser` : path,
    ])
    expect(setField(changed, path, getField(content(), path))).toEqual(content())
    expect(getFieldLabel(path, t)).not.toBe(path)
  },
)

it('a member of a team is compared, set and removed by itself', () => {
  const team = (...members: string[]) => content({ team: { ...defaultSpec.team, members } })
  expect(listFieldChanges(team('weather', 'finance'), team('weather', 'travel'), t)).toEqual([
    { path: 'team.members.finance', before: '@finance', after: '–' },
    { path: 'team.members.travel', before: '–', after: '@travel' },
  ])
  const path = 'team.members.travel'
  expect(setField(team('weather'), path, parseField(path, 'travel'))).toEqual(team('weather', 'travel'))
  expect(setField(team('weather', 'travel'), path, 'travel')).toEqual(team('weather', 'travel'))
  expect(setField(team('weather', 'travel'), path, parseField(path, ''))).toEqual(team('weather'))
  expect(getField(team('weather'), path)).toBeNull()
  expect(getFieldLabel(path, t)).toBe('field.team_members')
})

it('a field that no longer exists is named by its path, and never set', () => {
  expect(getFieldLabel('limits.max_words', t)).toBe('limits.max_words')
  expect(setField(content(), 'limits.max_words', 3)).toEqual(content())
  expect(parseField('limits.max_words', '3')).toBeUndefined()
})
