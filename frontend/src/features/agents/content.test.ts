import { expect, it, vi } from 'vitest'
import { defaultSpec, type SpecContent } from '@/api'
import { isSameContent } from './content'

const content = (change: Partial<SpecContent> = {}): SpecContent => ({
  ...defaultSpec,
  prompt: 'Answer.',
  parameters: { temperature: 1, top_p: 0.5 } as SpecContent['parameters'],
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
  ['limit', { limits: { max_steps: 11, max_seconds: 1800 } }],
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
