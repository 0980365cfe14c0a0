/** Pure functions on the content of a spec: comparison, tools. */
import type { SpecContent } from '@/api'
import type { Texts } from '@/lib/language'

export type ToolUse = SpecContent['tools'][number]

/** Returns whether two specs have the same content. The prompts, which may be long, are compared first. */
export const isSameContent = (a: SpecContent, b: SpecContent) => a === b || (a.prompt === b.prompt && isEqual(a, b))

/** Returns whether two JSON values are equal, whatever the order of their keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [getDefinedEntries(a), getDefinedEntries(b)]
  return (
    one.size === other.size && [...one].every(([name, value]) => other.has(name) && isEqual(value, other.get(name)))
  )
}

const getDefinedEntries = (object: object) => new Map(Object.entries(object).filter(([, value]) => value !== undefined))

/** Formats a value in one line; `–` if there is none. */
export const formatValue = (value: unknown) =>
  value === undefined || value === null || value === '' ? '–' : String(value)
export type FindFileName = (id: string) => string | undefined

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
