/** What a spec says, and how two of them differ. Pure. */
import type { SpecContent, SpecRow } from '@/api'
import type { Texts } from '@/lib/language'

type ToolUse = SpecContent['tools'][number]

export const contentOf = (spec: SpecRow): SpecContent => ({
  prompt: spec.prompt,
  model: spec.model,
  parameters: spec.parameters,
  limits: spec.limits,
  memory: 'chat',
  tools: spec.tools,
})

/** Whether two specs say the same. The prompts, which may be long, are compared first and as they are. */
export const isSame = (a: SpecContent, b: SpecContent) => a === b || (a.prompt === b.prompt && isEqual(a, b))

/** Whether two values of JSON are equal; the server may send their names in another order. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [definedIn(a), definedIn(b)]
  return (
    one.size === other.size && [...one].every(([name, value]) => other.has(name) && isEqual(value, other.get(name)))
  )
}

const definedIn = (value: object) => new Map(Object.entries(value).filter(([, each]) => each !== undefined))

export interface FieldChange {
  /** A field's name, or a tool's. */
  field: 'model' | 'temperature' | 'max_tokens' | 'top_p' | 'max_steps' | 'max_seconds' | 'memory' | `tool:${string}`
  before: string
  after: string
}

const formatValue = (value: unknown) => (value === undefined || value === null || value === '' ? '–' : String(value))
/** A tool in one line: whether it is on, and how it is set. */
export function toolText(tool: Partial<ToolUse> | undefined, t: Texts['t']): string {
  const settings = Object.entries(tool?.custom_config ?? {}).map(([name, value]) => `${name} = ${formatValue(value)}`)
  const parts = [t(tool?.is_enabled ? 'toolIsOn' : 'toolIsOff'), ...settings.sort(), tool?.usage_instructions]
  return parts.filter(Boolean).join(' · ')
}

/** What differs apart from the prompt, in the order of the forms. */
export function fieldChanges(before: SpecContent, after: SpecContent, t: Texts['t']): FieldChange[] {
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
      ({
        field: `tool:${name}`,
        before: toolText(find(before, name), t),
        after: toolText(find(after, name), t),
      }) as const,
  )
  const fields = plain.map(([field, a, b]) => ({ field, before: formatValue(a), after: formatValue(b) }))
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
