import { type AgentRow, type SpecContent, useTools } from '@/api'
import { useTexts } from '@/lib/language'
import { Field, TextField } from '@/ui/Field'
import { Skeleton } from '@/ui/Skeleton'
import { Switch } from '@/ui/Switch'
import { withTool } from '../content'
import { NumberField } from './NumberField'
import { ToolSettings } from './ToolSettings'

export interface FormProps {
  content: SpecContent
  isReadOnly: boolean
  onEdit(content: SpecContent): void
}

/** The tools an agent may use, each with a word on when. */
export function ToolsForm({ content, isReadOnly, onEdit }: FormProps) {
  const { t } = useTexts()
  const tools = useTools()
  if (!tools.data) return <Skeleton lines={3} label={t('loading')} />
  return (
    <ul className="toolform">
      {tools.data.map(tool => {
        const use = content.tools.find(each => each.tool === tool.name)
        const isOn = use?.is_enabled ?? false
        return (
          <li key={tool.name}>
            <div className="row">
              <span className="grow">
                <b className="mono">{tool.name}</b> <span className="badge line">{t(`effect.${tool.effect}`)}</span>
                <span className="muted block">{tool.description}</span>
              </span>
              <Switch
                label={tool.name}
                on={isOn}
                disabled={isReadOnly}
                onChange={is_enabled => onEdit(withTool(content, tool.name, { is_enabled }))}
              />
            </div>
            {isOn && use ? (
              <ToolSettings
                tool={tool}
                use={use}
                isReadOnly={isReadOnly}
                onChange={custom_config => onEdit(withTool(content, tool.name, { custom_config }))}
              />
            ) : null}
            {isOn ? (
              <Field label={t('usage')} hint={t('usageHint')}>
                {attributes => (
                  <textarea
                    {...attributes}
                    className="input"
                    maxLength={4_000}
                    readOnly={isReadOnly}
                    value={use?.usage_instructions ?? ''}
                    onChange={event => onEdit(withTool(content, tool.name, { usage_instructions: event.target.value }))}
                  />
                )}
              </Field>
            ) : null}
          </li>
        )
      })}
    </ul>
  )
}

interface ModelFormProps extends FormProps {
  /** The models that are known here, offered while typing. */
  models: readonly string[]
  standard: string
}

export function ModelForm({ content, isReadOnly, onEdit, models, standard }: ModelFormProps) {
  const { t } = useTexts()
  const { parameters } = content
  const set = (change: Partial<SpecContent['parameters']>) =>
    onEdit({ ...content, parameters: { ...parameters, ...change } })
  return (
    <div className="col gap">
      <TextField
        label={t('model')}
        hint={t('modelHint', { model: standard })}
        value={content.model}
        placeholder={standard}
        readOnly={isReadOnly}
        list="models"
        maxLength={200}
        onChange={model => onEdit({ ...content, model })}
      />
      <datalist id="models">
        {models.map(model => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <NumberField
        label={t('field.temperature')}
        hint={t('temperatureHint')}
        min={0}
        max={2}
        step={0.1}
        value={parameters.temperature}
        isReadOnly={isReadOnly}
        onChange={temperature => set({ temperature })}
      />
      <NumberField
        label={t('field.top_p')}
        hint={t('topPHint')}
        min={0.01}
        max={1}
        step={0.05}
        value={parameters.top_p}
        isReadOnly={isReadOnly}
        onChange={top_p => set({ top_p })}
      />
      <NumberField
        label={t('field.max_tokens')}
        hint={t('maxTokensHint')}
        min={1}
        max={200_000}
        step={1}
        value={parameters.max_tokens}
        isReadOnly={isReadOnly}
        onChange={max_tokens => set({ max_tokens })}
      />
    </div>
  )
}

export function LimitsForm({ content, isReadOnly, onEdit }: FormProps) {
  const { t } = useTexts()
  const { limits } = content
  const set = (change: Partial<SpecContent['limits']>) => onEdit({ ...content, limits: { ...limits, ...change } })
  return (
    <div className="col gap">
      <NumberField
        label={t('field.max_steps')}
        hint={t('maxStepsHint')}
        min={1}
        max={50}
        step={1}
        value={limits.max_steps}
        isReadOnly={isReadOnly}
        onChange={value => set({ max_steps: value ?? 10 })}
      />
      <NumberField
        label={t('field.max_seconds')}
        hint={t('maxSecondsHint')}
        min={5}
        max={3_600}
        step={5}
        value={limits.max_seconds}
        isReadOnly={isReadOnly}
        onChange={value => set({ max_seconds: value ?? 1_800 })}
      />
    </div>
  )
}

export const canSave = (agent: AgentRow) => agent.verbs.includes('save_agent')
export const canWrite = (agent: AgentRow) => agent.verbs.includes('edit_draft')
export const canSuggest = (agent: AgentRow) => agent.verbs.includes('suggest')
export const canDiscardAny = (agent: AgentRow) => agent.verbs.includes('discard_any')
