import type { SpecContent } from '@/api'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { NumberField } from './NumberField'
import { PagesSettings } from './PagesSettings'
import { SubAgentsField } from './SubAgentsField'
import workshopStyles from './Workshop.module.css'

type Settings = NonNullable<SpecContent['tools'][number]['custom_config']>

interface Setting {
  type?: string
  default?: unknown
  maxItems?: number
  minimum?: number
  maximum?: number
}

const LABELS: Record<string, PlainTextKey> = {
  timeout_s: 'field.timeout_s',
  retries: 'field.retries',
  max_chars: 'field.max_chars',
  max_seconds: 'field.max_seconds',
  max_depth: 'field.max_depth',
}

/** The setting that names the agents which may be given tasks. */
const SUB_AGENTS = 'allowed_sub_agents'
const MAX_ALLOWED_HANDLES = 20

const toHandles = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(handle => typeof handle === 'string') : []

interface ToolSettingsProps {
  /** The JSON schema of the settings. */
  schema: { properties?: unknown }
  workspaceId: string
  agentId: string | null
  use: SpecContent['tools'][number]
  isReadOnly: boolean
  onChange(custom_config: Settings): void
}

/** The fields for the settings in a tool's schema. An empty field means the tool's default. */
export function ToolSettings({ schema, workspaceId, agentId, use, isReadOnly, onChange }: ToolSettingsProps) {
  const { t } = useTexts()
  const settings = Object.entries((schema.properties ?? {}) as Record<string, Setting>)
  const chosen: Settings = use.custom_config ?? {}
  const change = (name: string, value: number | string[] | null) => {
    const { [name]: _, ...others } = chosen
    onChange(value === null ? others : { ...others, [name]: value })
  }
  const subAgents = settings.find(([name]) => name === SUB_AGENTS)?.[1]
  const defaultHandles = toHandles(subAgents?.default)
  const numbers = settings.filter(([, setting]) => setting.type === 'integer' || setting.type === 'number')
  const fields = (
    <div className={workshopStyles.settings}>
      {subAgents ? (
        <SubAgentsField
          workspaceId={workspaceId}
          agentId={agentId}
          chosen={SUB_AGENTS in chosen ? toHandles(chosen[SUB_AGENTS]) : defaultHandles}
          defaultHandles={defaultHandles}
          max={subAgents.maxItems ?? MAX_ALLOWED_HANDLES}
          isReadOnly={isReadOnly}
          onChange={handles => change(SUB_AGENTS, handles)}
        />
      ) : null}
      {numbers.map(([name, setting]) => {
        const label = LABELS[name]
        return (
          <NumberField
            key={name}
            label={label ? t(label) : name}
            hint={t('settingHint', {
              n: setting.default == null ? '–' : formatNumber(Number(setting.default)),
              most: formatNumber(setting.maximum ?? 0),
            })}
            min={setting.minimum ?? 1}
            max={setting.maximum ?? Number.MAX_SAFE_INTEGER}
            step={1}
            value={chosen[name] as number | undefined}
            isReadOnly={isReadOnly}
            onChange={value => change(name, value)}
          />
        )
      })}
    </div>
  )
  if (use.tool !== 'read_pages') return fields
  return (
    <>
      <PagesSettings workspaceId={workspaceId} use={use} isReadOnly={isReadOnly} onChange={onChange} />
      {fields}
    </>
  )
}
