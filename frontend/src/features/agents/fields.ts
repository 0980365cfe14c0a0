/**
 * The table of the fields of a spec, which the editor, the differences and the conflicts follow. `tsc` reports a field of `SpecContent`
 * that is missing in it.
 */
import type { SpecContent } from '@/api'
import type { PlainTextKey, Texts } from '@/lib/language'
import { describeTool, type FindFileName, formatValue, type ToolUse } from './content'

/** How one value is named, edited and read from the text of a choice. `label` names it in differences. */
type Control<Kind, Options = unknown> = { kind: Kind; label: PlainTextKey } & Options
type NumberControl = Control<'number', { hint: PlainTextKey; min: number; max: number; step: number }>
/** `editorLabel`: the label in the editor, if it is another one. `hint`: of all options, or of each option. */
export type ChoiceControl<Value extends string = string> = Control<
  'choice',
  {
    editorLabel?: PlainTextKey
    options: Record<Value, PlainTextKey>
    hint: PlainTextKey | Record<Value, PlainTextKey>
  }
>
/** `hint`, `max`: of a long text in a field of several lines; without them, a line. */
type TextControl = Control<'text', { hint?: PlainTextKey; max?: number }>
/** A list of handles of agents, at most `max`. */
type AgentsControl = Control<'agents', { max: number }>
type ValueControl<Value> = [NonNullable<Value>] extends [number]
  ? NumberControl
  : [NonNullable<Value>] extends [string]
    ? string extends NonNullable<Value>
      ? TextControl
      : ChoiceControl<NonNullable<Value> & string>
    : [NonNullable<Value>] extends [readonly string[]]
      ? AgentsControl
      : never

/** The tabs of the editor. Those of the prompt and of the tools have forms of their own. */
export type Tab = 'prompt' | 'tools' | 'model' | 'limits' | 'team'
/** `fields` are those of a group. */
type Entry<Value> = { tab: Tab } & (Value extends readonly ToolUse[]
  ? Control<'tools'>
  : Value extends object
    ? { fields: { [Name in keyof Value]-?: ValueControl<Value[Name]> } }
    : ValueControl<Value>)

type FieldName = keyof SpecContent

/** In the order in which differences and the tabs of the editor list them. */
const fields: { [Name in FieldName]-?: Entry<SpecContent[Name]> } = {
  prompt: { tab: 'prompt', kind: 'text', label: 'prompt' },
  model: { tab: 'model', kind: 'text', label: 'field.model' },
  parameters: {
    tab: 'model',

    fields: {
      temperature: { kind: 'number', label: 'field.temperature', hint: 'temperatureHint', min: 0, max: 2, step: 0.1 },
      top_p: { kind: 'number', label: 'field.top_p', hint: 'topPHint', min: 0.01, max: 1, step: 0.05 },
      max_tokens: { kind: 'number', label: 'field.max_tokens', hint: 'maxTokensHint', min: 1, max: 200_000, step: 1 },
    },
  },
  limits: {
    tab: 'limits',

    fields: {
      max_steps: { kind: 'number', label: 'field.max_steps', hint: 'maxStepsHint', min: 1, max: 50, step: 1 },
      max_seconds: { kind: 'number', label: 'field.max_seconds', hint: 'maxSecondsHint', min: 5, max: 3_600, step: 5 },
    },
  },
  context: {
    tab: 'limits',

    fields: {
      strategy: {
        kind: 'choice',
        label: 'field.context_strategy',
        hint: 'contextStrategyHint',
        options: {
          default: 'context.default',
          summarise: 'context.summarise',
          retrieve: 'context.retrieve',
          truncate: 'context.truncate',
        },
      },
      max_tokens: {
        kind: 'number',
        label: 'field.context_max_tokens',
        hint: 'contextTokensHint',
        min: 1_000,
        max: 2_000_000,
        step: 1_000,
      },
    },
  },
  memory: {
    tab: 'limits',

    kind: 'choice',
    label: 'field.memory',
    editorLabel: 'memory.scope',
    options: { chat: 'memory.scope.chat', agent: 'memory.scope.agent' },
    hint: { chat: 'memory.scopeHint.chat', agent: 'memory.scopeHint.agent' },
  },
  team: {
    tab: 'team',

    fields: {
      members: { kind: 'agents', label: 'field.team_members', max: 20 },
      aggregation: { kind: 'text', label: 'field.team_aggregation', hint: 'teamAggregationHint', max: 4_000 },
      max_tasks: { kind: 'number', label: 'field.team_max_tasks', hint: 'teamTasksHint', min: 1, max: 25, step: 1 },
      max_at_once: {
        kind: 'number',
        label: 'field.team_max_at_once',
        hint: 'teamAtOnceHint',
        min: 1,
        max: 10,
        step: 1,
      },
      limit_dollars: {
        kind: 'number',
        label: 'field.team_limit_dollars',
        hint: 'teamLimitHint',
        min: 0,
        max: 1_000_000,
        step: 0.1,
      },
      ask_above_dollars: {
        kind: 'number',
        label: 'field.team_ask_above_dollars',
        hint: 'teamAskHint',
        min: 0,
        max: 1_000_000,
        step: 0.1,
      },
    },
  },
  tools: { tab: 'tools', kind: 'tools', label: 'tool' },
}

type FieldControl = NumberControl | ChoiceControl | TextControl | AgentsControl | Control<'tools'>
/** An `agent` is an item of a list of agents. */
type AnyControl = FieldControl | Control<'agent'>
type AnyEntry = { tab: Tab } & (FieldControl | { fields: Record<string, FieldControl> })

const names = Object.keys(fields) as FieldName[]
const findEntry = (name: string) => (Object.hasOwn(fields, name) ? (fields[name as FieldName] as AnyEntry) : null)

/** Splits the path of a field, for example `limits.max_steps`, `tools.web_fetch`, or `team.members.weather` at its first dot. */
function splitPath(path: string): [name: string, key: string] {
  const dot = path.indexOf('.')
  return dot < 0 ? [path, ''] : [path.slice(0, dot), path.slice(dot + 1)]
}

/** Splits the path of an agent of a list, for example `team.members.weather`, at its last dot: a handle has none. */
function splitItem(path: string): [list: string, handle: string] {
  const dot = path.lastIndexOf('.')
  return [path.slice(0, dot), path.slice(dot + 1)]
}

/** Returns the control of a path; null for a field that no longer exists. */
export function findControl(path: string): AnyControl | null {
  const [name, key] = splitPath(path)
  const entry = findEntry(name)
  if (!entry || !('fields' in entry)) return entry
  const [field, item] = splitPath(key)
  const control = entry.fields[field] ?? null
  if (!item) return control
  return control?.kind === 'agents' ? { kind: 'agent', label: control.label } : null
}

/** Returns the name of the tool, if the path is that of a tool. */
export const findToolName = (path: string) => (findControl(path)?.kind === 'tools' ? splitPath(path)[1] : null)

/** Lists the paths of a field: one, or those of its fields. The items of a list are not known without a spec. */
function listPathsOfField(name: FieldName): string[] {
  const entry = fields[name] as AnyEntry
  if ('fields' in entry) return Object.keys(entry.fields).map(key => `${name}.${key}`)
  return entry.kind === 'tools' ? [] : [name]
}

/** Lists the paths of the fields that a tab of the editor shows. */
export const listPathsOfTab = (tab: Tab): string[] =>
  names.filter(name => fields[name].tab === tab).flatMap(listPathsOfField)

/** Lists the paths of all fields of these specs except the prompt; those of tools last. */
function listPaths(...contents: SpecContent[]): string[] {
  const tools = contents.flatMap(content => content.tools.map(use => `tools.${use.tool}`))
  const others = names.filter(name => name !== 'prompt').flatMap(listPathsOfField)
  return [...new Set([...others.flatMap(path => listItems(path, contents)), ...tools])]
}

/** Lists the paths of the agents of a list of agents; a path of any other field as it is. */
function listItems(path: string, contents: readonly SpecContent[]): string[] {
  if (findControl(path)?.kind !== 'agents') return [path]
  return contents.flatMap(content => (getField(content, path) as string[]).map(handle => `${path}.${handle}`))
}

const addDefaults = (use: ToolUse): ToolUse => ({
  ...{ is_enabled: true, custom_config: {}, usage_instructions: '' },
  ...use,
})

/** Returns the value of a field; null if the spec does not have it. */
export function getField(content: SpecContent, path: string): unknown {
  const [name, key] = splitPath(path)
  if (name === 'tools') {
    const use = content.tools.find(use => use.tool === key)
    return use ? addDefaults(use) : null
  }
  if (findControl(path)?.kind === 'agent') {
    const [list, handle] = splitItem(path)
    return (getField(content, list) as string[] | null)?.includes(handle) ? handle : null
  }
  const value: unknown = content[name as FieldName]
  return (key ? (value as Record<string, unknown> | undefined)?.[key] : value) ?? null
}

/** Returns the content with another value of a field. A tool that is null is removed. A field that no longer exists is ignored. */
export function setField(content: SpecContent, path: string, value: unknown): SpecContent {
  const [name, key] = splitPath(path)
  const control = findControl(path)
  if (!control) return content
  if (control.kind === 'agent') {
    const [list, handle] = splitItem(path)
    const others = ((getField(content, list) ?? []) as string[]).filter(other => other !== handle)
    return value !== null && getField(content, path) !== null
      ? content
      : setField(content, list, value === null ? others : [...others, handle])
  }
  if (name === 'tools') return { ...content, tools: replaceTool(content.tools, key, value as ToolUse | null) }
  const group: unknown = content[name as FieldName]
  return { ...content, [name]: key ? { ...(group as object), [key]: value } : value }
}

function replaceTool(tools: SpecContent['tools'], name: string, use: ToolUse | null): SpecContent['tools'] {
  if (!use) return tools.filter(tool => tool.tool !== name)
  const hasTool = tools.some(tool => tool.tool === name)
  return hasTool ? tools.map(tool => (tool.tool === name ? use : tool)) : [...tools, use]
}

/** Reads the value of a field from the text of a choice of a conflict, which `_format_value` of the server has written. */
export function parseField(path: string, text: string): unknown {
  switch (findControl(path)?.kind) {
    case 'text':
    case 'choice':
      return text
    case 'number':
      return text === '' ? null : Number(text)
    case 'agents':
      return parseHandles(text)
    case 'agent':
      return text || null
    case 'tools':
      return parseTool(text)
    default:
      return undefined
  }
}

/** Reads the handles of a choice, a list in JSON. */
function parseHandles(text: string): string[] {
  try {
    const handles: unknown = JSON.parse(text)
    return Array.isArray(handles) ? handles.map(String) : []
  } catch {
    return []
  }
}

/** Reads the tool of a choice; null if the choice removes the tool. */
function parseTool(text: string): ToolUse | null {
  try {
    return text ? addDefaults(JSON.parse(text) as ToolUse) : null
  } catch {
    return null
  }
}

/** Formats the value of a field in one line; `–` if there is none. */
export function describeField(path: string, value: unknown, t: Texts['t'], findFileName?: FindFileName): string {
  const control = findControl(path)
  if (control?.kind === 'tools') return describeTool((value as ToolUse | null) ?? undefined, t, findFileName)
  if (control?.kind === 'agents' && Array.isArray(value))
    return value.map(handle => `@${String(handle)}`).join(t('listJoin')) || formatValue(null)
  if (control?.kind === 'agent' && value) return `@${String(value)}`
  const option = control?.kind === 'choice' ? control.options[String(value)] : undefined
  return option ? t(option) : formatValue(value)
}

/** Returns the name of a field. That of a tool says only that it is one: `ToolName` shows its name. */
export function getFieldLabel(path: string, t: Texts['t']): string {
  const control = findControl(path)
  return control ? t(control.label) : path
}

export interface FieldChange {
  /** For example `limits.max_steps` or `tools.web_fetch`. */
  path: string
  before: string
  after: string
}

/** Lists the differences between two specs except for the prompt, in the order of the forms; those of tools last. */
export const listFieldChanges = (
  before: SpecContent,
  after: SpecContent,
  t: Texts['t'],
  findFileName?: FindFileName,
): FieldChange[] =>
  listPaths(before, after)
    .map(path => ({
      path,
      before: describeField(path, getField(before, path), t, findFileName),
      after: describeField(path, getField(after, path), t, findFileName),
    }))
    .filter(change => change.before !== change.after)
