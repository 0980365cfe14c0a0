import { ChevronDown, ChevronRight } from 'lucide-react'
import {
  type ComponentProps,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { type AgentRow, defaultSpec, type OfferedToolRow, type SpecContent, useOfferedTools } from '@/api'
import { OfferedTool } from '@/features/tools'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { getToolIcon } from '@/lib/toolIcons'
import { DELEGATE, isAgentTool } from '@/lib/toolNames'
import { getToolTextKey } from '@/lib/toolTexts'
import { Avatar } from '@/ui/Avatar'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { Switch } from '@/ui/Switch'
import { useCalledAgent } from '../components/ToolName'
import { listEnabledTools, type ToolUse, updateTool } from '../content'
import { type ChoiceControl, findControl, getField, listPathsOfTab, setField, type Tab } from '../fields'
import { NumberField } from './NumberField'
import { SubAgentsField } from './SubAgentsField'
import { ToolSettings } from './ToolSettings'
import workshopStyles from './Workshop.module.css'

/** The agents that come with the release and may be in a team. */
const SHIPPED = ['browser']

interface FormProps {
  content: SpecContent
  isReadOnly: boolean
  onEdit(content: SpecContent): void
}

interface ToolsFormProps extends FormProps {
  workspaceId: string
  /** The agent that is edited; null if it is not known. */
  agentId?: string | null
  /** Whether the reader may test tools. */
  mayTest: boolean
}

/** The list of tools, those that are enabled first. */
export function ToolsForm({ content, isReadOnly, onEdit, workspaceId, agentId = null, mayTest }: ToolsFormProps) {
  const { t } = useTexts()
  const tools = useOfferedTools(workspaceId)
  const [open, setOpen] = useState<string | null>(null)
  const switched = useFocusOfMoved()
  if (!tools.data) return <Loading query={tools} lines={3} />
  // Agents as tools are listed by themselves, and only those that this agent has.
  // The tools of the workspace come first: people have added them for their agents.
  const others = [
    ...tools.data.filter(tool => tool.tool_type === 'workspace'),
    ...tools.data.filter(tool => tool.tool_type !== 'workspace' && tool.tool_type !== 'agent'),
  ]
  const on = new Set(listEnabledTools(content).map(use => use.tool))
  const groups = [
    { label: t('toolsOn'), tools: others.filter(tool => on.has(tool.name)) },
    { label: t('toolsOff'), tools: others.filter(tool => !on.has(tool.name)) },
  ]
  const isSentToModel = ({ name, policy, is_available }: OfferedToolRow) =>
    is_available && policy !== 'off' && content.tools.some(use => use.tool === name && use.is_enabled)
  const tokens = tools.data.filter(isSentToModel).reduce((sum, tool) => sum + tool.schema_tokens, 0)
  const agentTools = content.tools.filter(use => isAgentTool(use.tool))
  const delegate = tools.data.find(tool => tool.name === DELEGATE)
  const calledAgents =
    agentTools.length > 0 ? (
      <section>
        <h3 className={workshopStyles.toolcap}>
          {t('subAgents.agentTools')} <span className="num">{agentTools.length}</span>
        </h3>
        <ul className={workshopStyles.toolform}>
          {agentTools.map(use => (
            <AgentToolItem
              key={use.tool}
              use={use}
              tool={tools.data.find(tool => tool.name === use.tool)}
              schema={delegate?.config_schema ?? {}}
              workspaceId={workspaceId}
              isReadOnly={isReadOnly}
              isOpen={open === use.tool}
              onOpen={isOpen => setOpen(isOpen ? use.tool : null)}
              onChange={change => onEdit(updateTool(content, use.tool, change))}
            />
          ))}
        </ul>
      </section>
    ) : null
  const buildSection = (group: (typeof groups)[number]) =>
    group.tools.length > 0 ? (
      <section key={group.label}>
        <h3 className={workshopStyles.toolcap}>
          {group.label} <span className="num">{group.tools.length}</span>
        </h3>
        <ul className={workshopStyles.toolform}>
          {group.tools.map(tool => (
            <ToolItem
              key={tool.name}
              tool={tool}
              workspaceId={workspaceId}
              agentId={agentId}
              mayTest={mayTest}
              use={content.tools.find(use => use.tool === tool.name)}
              isReadOnly={isReadOnly}
              isOpen={open === tool.name}
              onOpen={isOpen => setOpen(isOpen ? tool.name : null)}
              onChange={change => {
                if (change.is_enabled !== undefined) switched.current = tool.name
                onEdit(updateTool(content, tool.name, change))
              }}
            />
          ))}
        </ul>
      </section>
    ) : null
  return (
    <>
      <p className={cx(workshopStyles.tooltokens, 'faint xs')}>
        {t('tools.schemaTokens', { n: formatNumber(tokens) })}
      </p>
      {groups.slice(0, 1).map(buildSection)}
      {calledAgents}
      {groups.slice(1).map(buildSection)}
    </>
  )
}

/** Keeps the focus on the switch of a tool that has moved to the other group. Returns the ref for the name of the tool. */
function useFocusOfMoved(): RefObject<string | null> {
  const moved = useRef<string | null>(null)
  useEffect(() => {
    if (!moved.current) return
    document.querySelector<HTMLElement>(`[data-tool="${CSS.escape(moved.current)}"] [role=switch]`)?.focus()
    moved.current = null
  })
  return moved
}

interface ToolItemProps {
  tool: OfferedToolRow
  workspaceId: string
  agentId: string | null
  mayTest: boolean
  use: ToolUse | undefined
  isReadOnly: boolean
  isOpen: boolean
  onOpen(isOpen: boolean): void
  onChange(change: Partial<ToolUse>): void
}

function ToolItem({ tool, workspaceId, agentId, mayTest, ...item }: ToolItemProps) {
  const { t } = useTexts()
  const Icon = getToolIcon(tool.name)
  const text = getToolTextKey(tool.name)
  return (
    <ToolLine
      {...item}
      label={tool.name}
      icon={<Icon className="i" aria-hidden />}
      name={<b className="mono">{tool.name}</b>}
      about={text ? t(text) : tool.description || tool.server_name}
      state={t(tool.is_available ? `policy.${tool.policy}` : 'policy.off')}
      settings={{ schema: tool.config_schema, workspaceId, agentId }}
    >
      <Suspense fallback={null}>
        <OfferedTool tool={tool} workspaceId={workspaceId} mayTest={mayTest} />
      </Suspense>
    </ToolLine>
  )
}

interface AgentToolItemProps
  extends Pick<ToolItemProps, 'workspaceId' | 'isReadOnly' | 'isOpen' | 'onOpen' | 'onChange'> {
  use: ToolUse
  /** Unknown if it was added since the tools were read, or was taken down. */
  tool: OfferedToolRow | undefined
  /** The schema of the settings of `delegate`, which include those of agents as tools. */
  schema: { properties?: unknown }
}

/** A public agent that is called as a tool. */
function AgentToolItem({ use, tool, schema, workspaceId, ...item }: AgentToolItemProps) {
  const { t } = useTexts()
  const { id, name, avatar, publisher, isShipped, isTakenDown } = useCalledAgent(use.tool)
  const origin = isShipped ? t('subAgents.readyMade') : publisher ? t('subAgents.byPublisher', { name: publisher }) : ''
  const { allowed_sub_agents: _, ...properties } = (schema.properties ?? {}) as Record<string, unknown>
  return (
    <ToolLine
      {...item}
      use={use}
      label={name}
      icon={<Avatar id={id ?? use.tool} name={name} avatar={avatar} square />}
      name={<b>{name}</b>}
      about={origin}
      state={
        isTakenDown ? <span className="no">{t('subAgents.takenDown')}</span> : tool ? t(`policy.${tool.policy}`) : null
      }
      settings={{ schema: { properties }, workspaceId, agentId: null }}
    />
  )
}

interface ToolLineProps extends Pick<ToolItemProps, 'use' | 'isReadOnly' | 'isOpen' | 'onOpen' | 'onChange'> {
  /** The name of the switch. */
  label: string
  icon: ReactNode
  name: ReactNode
  about: string
  /** What is said at the end of the line. */
  state: ReactNode
  settings: Pick<ComponentProps<typeof ToolSettings>, 'schema' | 'workspaceId' | 'agentId'>
  children?: ReactNode
}

/** A tool: a switch, and its settings when it is opened. */
function ToolLine(props: ToolLineProps) {
  const { label, icon, name, about, state, settings, use, isReadOnly, isOpen, onOpen, onChange, children } = props
  const { t } = useTexts()
  const isOn = use?.is_enabled ?? false
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const id = useId()
  return (
    <li className={cx(!isOn && workshopStyles.off)} data-tool={label}>
      <div className={workshopStyles.toolline}>
        {isReadOnly ? (
          <span className={workshopStyles.state}>{t(isOn ? 'toolIsOn' : 'toolIsOff')}</span>
        ) : (
          <Switch label={label} on={isOn} onChange={is_enabled => onChange({ is_enabled })} />
        )}
        <button
          type="button"
          className="grow"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => onOpen(!isOpen)}
        >
          {icon}
          {name}
          <span className="muted cut">{about}</span>
          <span className="faint end">{state}</span>
          <Chevron className="i s faint" aria-hidden />
        </button>
      </div>
      {isOpen ? (
        <div className={cx(workshopStyles.tooldetails, 'col gap')} id={id}>
          <Field label={t('usage')} hint={t('usageHint')}>
            {attributes => (
              <textarea
                {...attributes}
                className={fieldStyles.input}
                maxLength={4_000}
                readOnly={isReadOnly || !isOn}
                value={use?.usage_instructions ?? ''}
                onChange={event => onChange({ usage_instructions: event.target.value })}
              />
            )}
          </Field>
          {use ? (
            <ToolSettings
              {...settings}
              use={use}
              isReadOnly={isReadOnly || !isOn}
              onChange={custom_config => onChange({ custom_config })}
            />
          ) : null}
          {children}
        </div>
      ) : null}
    </li>
  )
}

interface ModelParametersFormProps extends FormProps {
  /** The known models, offered while a name is typed. */
  models: readonly string[]
  defaultModel: string
}

export function ModelParametersForm({ content, isReadOnly, onEdit, models, defaultModel }: ModelParametersFormProps) {
  const { t } = useTexts()
  return (
    <div className="col gap">
      <TextField
        label={t('model')}
        hint={t('modelHint', { model: defaultModel })}
        value={content.model}
        placeholder={defaultModel}
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
      <FieldsOfTab tab="model" content={content} isReadOnly={isReadOnly} onEdit={onEdit} />
    </div>
  )
}

export const LimitsForm = (props: FormProps) => (
  <div className="col gap">
    <FieldsOfTab tab="limits" {...props} />
  </div>
)

/** The agents that this one may plan for, and the limits of its boards. */
export const TeamForm = ({ workspaceId, agentId, ...props }: FormProps & { workspaceId: string; agentId: string }) => (
  <div className="col gap">
    <FieldsOfTab tab="team" agents={{ workspaceId, agentId }} {...props} />
  </div>
)

/** The fields of a tab by the table of fields, except the model, which has a field of its own. */
interface FieldProps extends FormProps {
  /** Where agents are chosen, and by which agent; only of a tab with such a field. */
  agents?: { workspaceId: string; agentId: string }
}

function FieldsOfTab({ tab, ...form }: FieldProps & { tab: Tab }) {
  const paths = listPathsOfTab(tab).filter(path => path !== 'model')
  return paths.map(path => <SpecField key={path} path={path} {...form} />)
}

function SpecField({ path, content, isReadOnly, onEdit, agents }: FieldProps & { path: string }) {
  const { t } = useTexts()
  const control = findControl(path)
  const value = getField(content, path)
  const set = (next: unknown) => onEdit(setField(content, path, next))
  switch (control?.kind) {
    case 'number':
      return (
        <NumberField
          label={t(control.label)}
          hint={t(control.hint)}
          min={control.min}
          max={control.max}
          step={control.step}
          value={value as number | null}
          isReadOnly={isReadOnly}
          onChange={next => set(next ?? getField(defaultSpec, path))}
        />
      )
    case 'choice':
      return (
        <ChoiceField control={control} value={String(value)} isReadOnly={isReadOnly} onChange={next => set(next)} />
      )
    case 'agents':
      return agents ? (
        <SubAgentsField
          {...agents}
          chosen={value as string[]}
          defaultHandles={SHIPPED}
          max={control.max}
          hasPublicAgents
          isReadOnly={isReadOnly}
          onChange={set}
        />
      ) : null
    case 'text':
      return control.max === undefined ? (
        <TextField label={t(control.label)} value={String(value)} readOnly={isReadOnly} onChange={set} />
      ) : (
        <Field label={t(control.label)} hint={control.hint ? t(control.hint) : null}>
          {attributes => (
            <textarea
              {...attributes}
              className={fieldStyles.input}
              maxLength={control.max}
              readOnly={isReadOnly}
              value={String(value)}
              onChange={event => set(event.target.value)}
            />
          )}
        </Field>
      )
    default:
      return null
  }
}

interface ChoiceFieldProps {
  control: ChoiceControl
  value: string
  isReadOnly: boolean
  onChange(value: string): void
}

function ChoiceField({ control, value, isReadOnly, onChange }: ChoiceFieldProps) {
  const { t } = useTexts()
  const { label, editorLabel = label, options, hint } = control
  const hintKey = typeof hint === 'string' ? hint : hint[value]
  return (
    <Field label={t(editorLabel)} hint={hintKey ? t(hintKey) : null}>
      {attributes => (
        <select
          {...attributes}
          className={fieldStyles.input}
          value={value}
          disabled={isReadOnly}
          onChange={event => onChange(event.target.value)}
        >
          {Object.entries(options).map(([option, text]) => (
            <option key={option} value={option}>
              {t(text)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export const canSave = (agent: AgentRow) => agent.verbs.includes('save_agent')
export const canWrite = (agent: AgentRow) => agent.verbs.includes('edit_draft')
export const canSuggest = (agent: AgentRow) => agent.verbs.includes('suggest')
export const canDiscardAny = (agent: AgentRow) => agent.verbs.includes('discard_any')
