import { expect, it, vi } from 'vitest'
import type { SpecContent } from '@/api'
import type { Texts } from '@/lib/language'
import { fieldChanges, isSame } from './content'

const content = (change: Partial<SpecContent> = {}): SpecContent => ({
  prompt: 'Answer.',
  model: '',
  parameters: { temperature: 1, top_p: 0.5 } as SpecContent['parameters'],
  limits: { max_steps: 10, max_seconds: 300 },
  memory: 'chat',
  tools: [{ tool: 'web_fetch', is_enabled: true, custom_config: { retries: 1 }, usage_instructions: '' }],
  ...change,
})

it('two specs are the same whatever the order of their names, and where a name stands without a value', () => {
  const reversed = Object.fromEntries(Object.entries(content()).reverse()) as unknown as SpecContent
  expect(isSame(content(), reversed)).toBe(true)
  expect(
    isSame(content(), { ...content(), parameters: { top_p: 0.5, temperature: 1, max_tokens: undefined } as never }),
  ).toBe(true)
})

it.each<[string, Partial<SpecContent>]>([
  ['prompt', { prompt: 'Answer!' }],
  ['parameter', { parameters: { temperature: 1 } as never }],
  ['limit', { limits: { max_steps: 11, max_seconds: 300 } }],
  ['number of tools', { tools: [] }],
  ['setting of a tool', { tools: [{ ...content().tools[0], custom_config: { retries: 2 } } as never] }],
])('another %s makes another spec', (_, change) => {
  expect(isSame(content(), content(change))).toBe(false)
  expect(isSame(content(change), content())).toBe(false)
})

it('prompts that differ are compared without reading anything else', () => {
  const other = content({ prompt: 'Answer!' })
  const read = vi.fn(() => [])
  Object.defineProperty(other, 'tools', { get: read, enumerable: true })
  expect(isSame(content(), other)).toBe(false)
  expect(read).not.toHaveBeenCalled()
})

const t = ((key: string) => ({ toolIsOn: 'on', toolIsOff: 'off' })[key] ?? key) as Texts['t']

it('a tool that is switched, set or new is named with how it stands on both sides', () => {
  const [tool] = content().tools
  const off = content({ tools: [{ ...tool, is_enabled: false } as never] })
  const more = content({
    tools: [tool as never, { tool: 'current_time', is_enabled: true, usage_instructions: 'UTC' } as never],
  })
  expect(fieldChanges(content(), off, t)).toEqual([
    { field: 'tool:web_fetch', before: 'on · retries = 1', after: 'off · retries = 1' },
  ])
  expect(fieldChanges(content(), more, t)).toEqual([{ field: 'tool:current_time', before: 'off', after: 'on · UTC' }])
  expect(fieldChanges(content(), content(), t)).toEqual([])
})
