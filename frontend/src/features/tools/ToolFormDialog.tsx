import { Plus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type ToolEffect, type ToolServerRow, useChangeTool, useCreateTool, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { AgentsWithTool } from './AgentsWithTool'
import styles from './Tools.module.css'
import {
  buildArgument,
  buildForm,
  type FormArgument,
  findPathProblems,
  isReading,
  type Method,
  matchPath,
  methods,
  type ToolForm,
} from './toolForm'

const places: readonly FormArgument['where'][] = ['path', 'query', 'header', 'body']
const types: readonly FormArgument['type'][] = ['string', 'integer', 'number', 'boolean', 'strings']

interface ToolFormDialogProps {
  workspaceId: string
  server: ToolServerRow
  /** The tool that is changed; without one, a tool is added. */
  tool?: WorkspaceToolRow
  open: boolean
  /** Called with the new tool. */
  onAdded?(tools: readonly WorkspaceToolRow[]): void
  onOpenChange(open: boolean): void
}

/** The form of a tool. The definition of an imported tool is that of its server: only the other fields can be changed. */
export function ToolFormDialog({ workspaceId, server, tool, open, onAdded, onOpenChange }: ToolFormDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={tool ? t('tools.changeOf', { name: tool.name }) : t('tools.addTo', { name: server.name })}
      description={tool && server.kind !== 'http' ? t('tools.change.imported') : undefined}
      className={cx(dialogStyles.wide, styles.review)}
    >
      <Form
        workspaceId={workspaceId}
        server={server}
        tool={tool}
        onAdded={onAdded}
        onClose={() => onOpenChange(false)}
      />
    </Dialog>
  )
}

const emptyForm: ToolForm = { description: '', method: 'GET', path: '/', effect: 'read', body: 'json', arguments: [] }
const DEFAULT_TIMEOUT_S = 30

interface FormProps {
  workspaceId: string
  server: ToolServerRow
  tool: WorkspaceToolRow | undefined
  onAdded: ToolFormDialogProps['onAdded']
  onClose(): void
}

function Form({ workspaceId, server, tool, onAdded, onClose }: FormProps) {
  const { t } = useTexts()
  const create = useCreateTool(workspaceId, server.id)
  const change = useChangeTool(workspaceId)
  const [name, setName] = useState(tool?.name ?? '')
  const [form, setForm] = useState(tool ? buildForm(tool) : emptyForm)
  const [isIdempotent, setIdempotent] = useState(tool?.is_idempotent ?? false)
  const [timeoutSeconds, setTimeoutSeconds] = useState(String(tool?.timeout_s ?? DEFAULT_TIMEOUT_S))
  const update = (changes: Partial<ToolForm>) => setForm(before => ({ ...before, ...changes }))
  const isWrittenHere = server.kind === 'http'
  const handleSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const problems = findPathProblems(form)
    if (isWrittenHere && problems.missing.length + problems.unused.length > 0) {
      event.currentTarget.querySelector<HTMLInputElement>('input[aria-invalid=true]')?.focus()
      return
    }
    const fields = { name, is_idempotent: isIdempotent, timeout_s: Number(timeoutSeconds) }
    if (!tool) {
      const onSuccess = (created: WorkspaceToolRow) => {
        onClose()
        onAdded?.([created])
      }
      return create.mutate({ ...fields, form }, { onSuccess })
    }
    const definition = isWrittenHere ? { form } : { effect: form.effect }
    change.mutate({ id: tool.id, revision: tool.revision, ...fields, ...definition }, { onSuccess: onClose })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <TextField
        label={t('mcp.name')}
        hint={t('tools.name.hint')}
        value={name}
        required
        maxLength={64}
        pattern="[a-zA-Z0-9_\-]+"
        autoComplete="off"
        className="mono"
        onChange={setName}
      />
      {tool && name !== tool.name ? <AgentsWithTool tool={tool} text="tools.rename.agents" /> : null}
      {isWrittenHere ? <DefinitionFields form={form} onChange={update} /> : null}
      <EffectField
        effect={form.effect}
        isUnusual={isWrittenHere && form.effect === 'read' && !isReading(form.method)}
        onChange={effect => update({ effect })}
      />
      <div className={styles.limits}>
        <TextField
          label={t('tools.timeout')}
          type="number"
          value={timeoutSeconds}
          required
          min={1}
          max={120}
          step="any"
          onChange={setTimeoutSeconds}
        />
        {form.effect === 'read' ? null : (
          <label className="row sm">
            <input type="checkbox" checked={isIdempotent} onChange={event => setIdempotent(event.target.checked)} />
            {t('tools.idempotent')}
          </label>
        )}
      </div>
      <ErrorBanner error={create.error ?? change.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button
          tone="ink"
          type="submit"
          busy={create.isPending ? t('mcp.adding') : change.isPending ? t('saving') : null}
        >
          {t(tool ? 'saveChanges' : 'tools.addOne')}
        </Button>
      </div>
    </form>
  )
}

interface EffectFieldProps {
  effect: ToolEffect
  /** A request of this method usually writes: a person confirms that it only reads. */
  isUnusual: boolean
  onChange(effect: ToolEffect): void
}

function EffectField({ effect, isUnusual, onChange }: EffectFieldProps) {
  const { t } = useTexts()
  return (
    <>
      <SelectField<ToolEffect>
        label={t('mcp.effect')}
        hint={t(isUnusual ? 'tools.effect.confirm' : 'mcp.effect.hint')}
        value={effect}
        options={(['read', 'write'] as const).map(value => ({ value, label: t(`mcp.effect.${value}`) }))}
        onChange={onChange}
      />
      {isUnusual ? (
        <label className="row sm">
          <input type="checkbox" required /> {t('tools.effect.sure')}
        </label>
      ) : null}
    </>
  )
}

interface DefinitionFieldsProps {
  form: ToolForm
  onChange(changes: Partial<ToolForm>): void
}

/** What a model reads of the tool, and the request. */
function DefinitionFields({ form, onChange }: DefinitionFieldsProps) {
  const { t } = useTexts()
  // Each argument has a key of its own: removing one must not move the focus into another.
  const [keys, setKeys] = useState(() => form.arguments.map((_, index) => index))
  const args = form.arguments
  const updateArgument = (index: number, changes: Partial<FormArgument>) =>
    onChange({ arguments: args.map((one, at) => (at === index ? { ...one, ...changes } : one)) })
  const removeArgument = (index: number) => {
    setKeys(before => before.filter((_, at) => at !== index))
    onChange({ arguments: args.filter((_, at) => at !== index) })
  }
  const addArgument = () => {
    setKeys(before => [...before, Math.max(-1, ...before) + 1])
    onChange({ arguments: [...args, buildArgument(form.method)] })
  }
  const updatePath = (path: string) => {
    const matched = matchPath(form, path)
    setKeys(before => {
      let last = Math.max(-1, ...before)
      return matched.map(({ from }) => (from === null ? ++last : (before[from] ?? ++last)))
    })
    onChange({ path, arguments: matched.map(one => one.argument) })
  }
  const { missing, unused } = findPathProblems(form)
  const pathError = missing[0]
    ? t('tools.path.missing', { name: missing[0] })
    : unused[0]
      ? t('tools.path.unused', { name: unused[0] })
      : null
  return (
    <>
      <Field label={t('tools.description')} hint={t('tools.description.hint')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            rows={3}
            required
            maxLength={2000}
            value={form.description}
            onChange={event => onChange({ description: event.target.value })}
          />
        )}
      </Field>
      <div className={styles.request}>
        <SelectField<Method>
          label={t('tools.method')}
          value={form.method}
          options={methods.map(value => ({ value, label: value }))}
          onChange={method => onChange({ method, effect: isReading(method) ? 'read' : 'write' })}
        />
        <TextField
          label={t('tools.path')}
          hint={t('tools.path.hint')}
          value={form.path}
          required
          maxLength={1000}
          autoComplete="off"
          className="mono"
          error={pathError}
          onChange={updatePath}
        />
      </div>
      <fieldset className={cx(styles.arguments, 'col gap')}>
        <legend>{t('tools.arguments')}</legend>
        {args.map((one, index) => (
          <ArgumentRow
            key={keys[index]}
            argument={one}
            onChange={changes => updateArgument(index, changes)}
            onRemove={() => removeArgument(index)}
          />
        ))}
        <Button size="xs" onClick={addArgument}>
          <Plus className="i s" aria-hidden />
          {t('tools.addArgument')}
        </Button>
      </fieldset>
    </>
  )
}

interface ArgumentRowProps {
  argument: FormArgument
  onChange(changes: Partial<FormArgument>): void
  onRemove(): void
}

function ArgumentRow({ argument, onChange, onRemove }: ArgumentRowProps) {
  const { t } = useTexts()
  return (
    <div className={styles.argument}>
      <input
        className={cx(fieldStyles.input, 'mono')}
        aria-label={t('mcp.name')}
        placeholder={t('mcp.name')}
        required
        maxLength={64}
        value={argument.name}
        onChange={event => onChange({ name: event.target.value })}
      />
      <select
        className={fieldStyles.input}
        aria-label={t('tools.where')}
        value={argument.where}
        onChange={event => onChange({ where: event.target.value as FormArgument['where'] })}
      >
        {places.map(place => (
          <option key={place} value={place}>
            {t(`tools.where.${place}`)}
          </option>
        ))}
      </select>
      <select
        className={fieldStyles.input}
        aria-label={t('tools.type')}
        value={argument.type}
        onChange={event => onChange({ type: event.target.value as FormArgument['type'] })}
      >
        {types.map(type => (
          <option key={type} value={type}>
            {t(`tools.type.${type}`)}
          </option>
        ))}
      </select>
      <input
        className={fieldStyles.input}
        aria-label={t('tools.description')}
        placeholder={t('tools.description')}
        maxLength={500}
        value={argument.description}
        onChange={event => onChange({ description: event.target.value })}
      />
      <label className="row xs">
        <input
          type="checkbox"
          checked={argument.is_required || argument.where === 'path'}
          disabled={argument.where === 'path'}
          onChange={event => onChange({ is_required: event.target.checked })}
        />
        {t('tools.required')}
      </label>
      <IconButton label={t('tools.removeArgument')} onClick={onRemove}>
        <X className="i s" aria-hidden />
      </IconButton>
    </div>
  )
}
