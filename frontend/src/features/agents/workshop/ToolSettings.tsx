import type { SpecContent, ToolRow } from '@/api'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { NumberField } from './NumberField'
import { PagesSettings } from './PagesSettings'
import workshopStyles from './Workshop.module.css'

type Settings = NonNullable<SpecContent['tools'][number]['custom_config']>

interface Setting {
  type?: string
  default?: number
  minimum?: number
  maximum?: number
}

const LABELS: Record<string, PlainTextKey> = {
  timeout_s: 'field.timeout_s',
  retries: 'field.retries',
  max_chars: 'field.max_chars',
}

interface ToolSettingsProps {
  tool: ToolRow
  workspaceId: string
  use: SpecContent['tools'][number]
  isReadOnly: boolean
  onChange(custom_config: Settings): void
}

/** The fields for the settings in a tool's schema. An empty field means the tool's default. */
export function ToolSettings({ tool, workspaceId, use, isReadOnly, onChange }: ToolSettingsProps) {
  const { t } = useTexts()
  const settings = Object.entries((tool.config_schema.properties ?? {}) as Record<string, Setting>)
  const chosen: Settings = use.custom_config ?? {}
  const change = (name: string, value: number | null) => {
    const { [name]: _, ...others } = chosen
    onChange(value === null ? others : { ...others, [name]: value })
  }
  const numbers = (
    <div className={workshopStyles.settings}>
      {settings
        .filter(([, setting]) => setting.type === 'integer' || setting.type === 'number')
        .map(([name, setting]) => {
          const label = LABELS[name]
          return (
            <NumberField
              key={name}
              label={label ? t(label) : name}
              hint={t('settingHint', { n: String(setting.default ?? '–'), most: formatNumber(setting.maximum ?? 0) })}
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
  if (tool.name !== 'read_pages') return numbers
  return (
    <>
      <PagesSettings workspaceId={workspaceId} use={use} isReadOnly={isReadOnly} onChange={onChange} />
      {numbers}
    </>
  )
}
