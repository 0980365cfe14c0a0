/** What a spec says, and how two of them differ. Pure. */
import type { DraftRow, SpecContent, SpecRow } from '@/api'

type ToolUse = SpecContent['tools'][number]

export const contentOf = (spec: SpecRow): SpecContent => ({
  prompt: spec.prompt,
  model: spec.model,
  parameters: spec.parameters as SpecContent['parameters'],
  limits: spec.limits as SpecContent['limits'],
  memory: spec.memory,
  tools: spec.tools,
})

export const writtenIn = (draft: Pick<DraftRow, 'written'>) => draft.written as unknown as SpecContent
export const appliedIn = (draft: DraftRow) => draft.applied as unknown as SpecContent | null

export const isSame = (a: SpecContent, b: SpecContent) => a === b || ordered(a) === ordered(b)

/** JSON with names in order: the server may send them in another. */
function ordered(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a.localeCompare(b)))
      : inner,
  )
}

export interface FieldChange {
  /** A field's name, or a tool's. */
  field: 'model' | 'temperature' | 'max_tokens' | 'top_p' | 'max_steps' | 'max_seconds' | 'memory' | `tool:${string}`
  before: string
  after: string
}

const shown = (value: unknown) => (value === undefined || value === null || value === '' ? '–' : String(value))
/** A tool and its settings in one line. */
export const toolShown = (tool: ToolUse | undefined) => {
  if (!tool?.is_enabled) return '–'
  const settings = Object.entries(tool.custom_config ?? {}).map(([name, value]) => `${name} = ${shown(value)}`)
  return ['✓', ...settings.sort(), tool.usage_instructions].filter(Boolean).join(' ')
}

/** What differs apart from the prompt, in the order of the forms. */
export function fieldChanges(before: SpecContent, after: SpecContent): FieldChange[] {
  const plain = [
    ['model', before.model, after.model],
    ['temperature', before.parameters.temperature, after.parameters.temperature],
    ['max_tokens', before.parameters.max_tokens, after.parameters.max_tokens],
    ['top_p', before.parameters.top_p, after.parameters.top_p],
    ['max_steps', before.limits.max_steps, after.limits.max_steps],
    ['max_seconds', before.limits.max_seconds, after.limits.max_seconds],
    ['memory', before.memory, after.memory],
  ] as const
  const names = new Set([...before.tools, ...after.tools].map(tool => tool.tool))
  const find = (content: SpecContent, name: string) => content.tools.find(tool => tool.tool === name)
  const tools = [...names].map(
    name =>
      ({ field: `tool:${name}`, before: toolShown(find(before, name)), after: toolShown(find(after, name)) }) as const,
  )
  const fields = plain.map(([field, a, b]) => ({ field, before: shown(a), after: shown(b) }))
  return [...fields, ...tools].filter(change => change.before !== change.after)
}

/** The content with one tool switched or instructed; tools keep their order. */
export function withTool(content: SpecContent, name: string, change: Partial<ToolUse>): SpecContent {
  const known = content.tools.some(tool => tool.tool === name)
  const fresh: ToolUse = { tool: name, is_enabled: true, custom_config: {}, usage_instructions: '', ...change }
  const tools = known
    ? content.tools.map(tool => (tool.tool === name ? { ...tool, ...change } : tool))
    : [...content.tools, fresh]
  return { ...content, tools }
}

export const enabledTools = (content: SpecContent) => content.tools.filter(tool => tool.is_enabled)
