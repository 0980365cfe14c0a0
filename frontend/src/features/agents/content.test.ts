import { expect, it, vi } from 'vitest'
import type { SpecContent } from '@/api'
import type { Texts } from '@/lib/language'
import { isSameContent, listFieldChanges } from './content'

const content = (change: Partial<SpecContent> = {}): SpecContent => ({
  prompt: 'Answer.',
  model: '',
  parameters: { temperature: 1, top_p: 0.5 } as SpecContent['parameters'],
  limits: { max_steps: 10, max_seconds: 300 },
  memory: 'chat',
  context: { strategy: 'default', max_tokens: null },
  tools: [{ tool: 'web_fetch', is_enabled: true, custom_config: { retries: 1 }, usage_instructions: '' }],
  ...change,
})

it('two specs are equal whatever the order of their keys, and a key without a value counts as missing', () => {
  const reversed = Object.fromEntries(Object.entries(content()).reverse()) as unknown as SpecContent
  expect(isSameContent(content(), reversed)).toBe(true)
  expect(
    isSameContent(content(), {
      ...content(),
      parameters: { top_p: 0.5, temperature: 1, max_tokens: undefined } as never,
    }),
  ).toBe(true)
})

it.each<[string, Partial<SpecContent>]>([
  ['prompt', { prompt: 'Answer!' }],
  ['parameter', { parameters: { temperature: 1 } as never }],
  ['limit', { limits: { max_steps: 11, max_seconds: 300 } }],
  ['number of tools', { tools: [] }],
  ['setting of a tool', { tools: [{ ...content().tools[0], custom_config: { retries: 2 } } as never] }],
])('specs that differ in the %s are not equal', (_, change) => {
  expect(isSameContent(content(), content(change))).toBe(false)
  expect(isSameContent(content(change), content())).toBe(false)
})

it('different prompts are detected without reading the other fields', () => {
  const other = content({ prompt: 'Answer!' })
  const read = vi.fn(() => [])
  Object.defineProperty(other, 'tools', { get: read, enumerable: true })
  expect(isSameContent(content(), other)).toBe(false)
  expect(read).not.toHaveBeenCalled()
})

const t = ((key: string) => ({ toolIsOn: 'on', toolIsOff: 'off' })[key] ?? key) as Texts['t']

it('names the knowledge pages of a tool, and shows the id of a file that is gone', () => {
  const pages = (...page_ids: string[]) =>
    content({
      tools: [{ tool: 'read_pages', is_enabled: true, usage_instructions: '', custom_config: { page_ids } } as never],
    })
  const names = new Map([['a', 'notes.md']])
  expect(listFieldChanges(pages('a'), pages('a', 'b'), t, id => names.get(id))).toEqual([
    { field: 'tool:read_pages', before: 'on · pages.title: notes.md', after: 'on · pages.title: notes.mdlistJoinb' },
  ])
})

it('lists a changed or added tool with its settings before and after', () => {
  const [tool] = content().tools
  const off = content({ tools: [{ ...tool, is_enabled: false } as never] })
  const more = content({
    tools: [tool as never, { tool: 'current_time', is_enabled: true, usage_instructions: 'UTC' } as never],
  })
  expect(listFieldChanges(content(), off, t)).toEqual([
    { field: 'tool:web_fetch', before: 'on · retries = 1', after: 'off · retries = 1' },
  ])
  expect(listFieldChanges(content(), more, t)).toEqual([{ field: 'tool:current_time', before: '–', after: 'on · UTC' }])
  expect(listFieldChanges(content(), content(), t)).toEqual([])
})
