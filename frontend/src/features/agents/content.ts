/** Pure functions on the content of a spec: comparison, differences, changes. */
import type { SpecContent, SpecRow } from '@/api'
import type { Texts } from '@/lib/language'

type ToolUse = SpecContent['tools'][number]

export const toSpecContent = (spec: SpecRow): SpecContent => ({
  prompt: spec.prompt,
  model: spec.model,
  parameters: spec.parameters,
  limits: spec.limits,
  context: spec.context,
  memory: spec.memory,
  tools: spec.tools,
})

/** Returns whether two specs have the same content. The prompts, which may be long, are compared first. */
export const isSameContent = (a: SpecContent, b: SpecContent) => a === b || (a.prompt === b.prompt && isEqual(a, b))

/** Returns whether two JSON values are equal, whatever the order of their keys. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [getDefinedEntries(a), getDefinedEntries(b)]
  return (
    one.size === other.size && [...one].every(([name, value]) => other.has(name) && isEqual(value, other.get(name)))
  )
}

const getDefinedEntries = (object: object) => new Map(Object.entries(object).filter(([, value]) => value !== undefined))

export interface FieldChange {
  /** The name of a field, or of a tool. */
  field:
    | 'model'
    | 'temperature'
    | 'max_tokens'
    | 'top_p'
    | 'max_steps'
    | 'max_seconds'
    | 'memory'
    | 'context_strategy'
    | 'context_max_tokens'
    | `tool:${string}`
  before: string
  after: string
}

const formatValue = (value: unknown) => (value === undefined || value === null || value === '' ? '–' : String(value))
type FindFileName = (id: string) => string | undefined

/** Lists the knowledge pages of a tool, as ids of files. */
export const listPageIds = (tool: Partial<ToolUse> | undefined): string[] => {
  const ids = tool?.custom_config?.page_ids
  return Array.isArray(ids) ? ids.map(String) : []
}

/** Describes a tool in one line: whether it is enabled, its settings and instructions; `–` if the spec does not have it. */
export function describeTool(
  tool: Partial<ToolUse> | undefined,
  t: Texts['t'],
  findFileName: FindFileName = () => undefined,
): string {
  if (!tool) return formatValue(tool)
  const settings = Object.entries(tool.custom_config ?? {}).map(([name, value]) =>
    name === 'allowed_sub_agents' && Array.isArray(value)
      ? t('subAgents.mayCall', { names: value.map(handle => `@${handle}`).join(t('listJoin')) || '–' })
      : name === 'page_ids'
        ? `${t('pages.title')}: ${
            listPageIds(tool)
              .map(id => findFileName(id) ?? id)
              .join(t('listJoin')) || '–'
          }`
        : `${name} = ${formatValue(value)}`,
  )
  const parts = [t(tool.is_enabled ? 'toolIsOn' : 'toolIsOff'), ...settings.sort(), tool.usage_instructions]
  return parts.filter(Boolean).join(' · ')
}

/** Lists the differences between two specs except for the prompt, in the order of the forms; those of tools last. */
export function listFieldChanges(
  before: SpecContent,
  after: SpecContent,
  t: Texts['t'],
  findFileName?: FindFileName,
): FieldChange[] {
  const values = [
    ['model', before.model, after.model],
    ['temperature', before.parameters.temperature, after.parameters.temperature],
    ['max_tokens', before.parameters.max_tokens, after.parameters.max_tokens],
    ['top_p', before.parameters.top_p, after.parameters.top_p],
    ['max_steps', before.limits.max_steps, after.limits.max_steps],
    ['max_seconds', before.limits.max_seconds, after.limits.max_seconds],
    ['context_strategy', before.context.strategy, after.context.strategy],
    ['context_max_tokens', before.context.max_tokens, after.context.max_tokens],
    ['memory', t(`memory.scope.${before.memory}`), t(`memory.scope.${after.memory}`)],
  ] as const
  const names = new Set([...before.tools, ...after.tools].map(tool => tool.tool))
  const find = (content: SpecContent, name: string) => content.tools.find(tool => tool.tool === name)
  const tools = [...names].map(
    name =>
      ({
        field: `tool:${name}`,
        before: describeTool(find(before, name), t, findFileName),
        after: describeTool(find(after, name), t, findFileName),
      }) as const,
  )
  const fields = values.map(([field, a, b]) => ({ field, before: formatValue(a), after: formatValue(b) }))
  return [...fields, ...tools].filter(change => change.before !== change.after)
}

/** Returns the content with one tool changed or added; the order of the tools is kept. */
export function updateTool(content: SpecContent, name: string, change: Partial<ToolUse>): SpecContent {
  const hasTool = content.tools.some(tool => tool.tool === name)
  const newTool: ToolUse = { tool: name, is_enabled: true, custom_config: {}, usage_instructions: '', ...change }
  const tools = hasTool
    ? content.tools.map(tool => (tool.tool === name ? { ...tool, ...change } : tool))
    : [...content.tools, newTool]
  return { ...content, tools }
}

export const listEnabledTools = (content: SpecContent) => content.tools.filter(tool => tool.is_enabled)
