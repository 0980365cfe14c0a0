import { Plus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type HttpToolInput, type ToolEffect, type ToolServerRow, useCreateTool } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import styles from './Tools.module.css'

type ToolForm = HttpToolInput['form']
type Method = ToolForm['method']
type Argument = Required<NonNullable<ToolForm['arguments']>[number]>

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const places: readonly Argument['where'][] = ['path', 'query', 'header', 'body']
const types: readonly Argument['type'][] = ['string', 'integer', 'number', 'boolean', 'strings']

interface AddToolDialogProps {
  workspaceId: string
  server: ToolServerRow
  open: boolean
  onOpenChange(open: boolean): void
}

/** The form of a tool: a request with arguments. */
export function AddToolDialog({ workspaceId, server, open, onOpenChange }: AddToolDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('tools.addTo', { name: server.name })}
      className={cx(dialogStyles.wide, styles.review)}
    >
      <Form workspaceId={workspaceId} serverId={server.id} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

const isReading = (method: Method) => method === 'GET' || method === 'HEAD'

function Form({ workspaceId, serverId, onClose }: { workspaceId: string; serverId: string; onClose(): void }) {
  const { t } = useTexts()
  const create = useCreateTool(workspaceId, serverId)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [method, setMethod] = useState<Method>('GET')
  const [path, setPath] = useState('/')
  const [effect, setEffect] = useState<ToolEffect>('read')
  const [args, setArgs] = useState<(Argument & { key: number })[]>([])
  const handleMethod = (next: Method) => {
    setMethod(next)
    setEffect(isReading(next) ? 'read' : 'write')
  }
  const updateArgument = (key: number, changes: Partial<Argument>) =>
    setArgs(before => before.map(one => (one.key === key ? { ...one, ...changes } : one)))
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    const form = { description, method, path, effect, arguments: args.map(({ key: _, ...one }) => one) }
    create.mutate({ name, form }, { onSuccess: onClose })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <TextField
        label={t('mcp.name')}
        hint={t('tools.name.hint')}
        value={name}
        required
        maxLength={64}
        pattern="[a-zA-Z0-9_\\-]+"
        autoComplete="off"
        className="mono"
        onChange={setName}
      />
      <Field label={t('tools.description')} hint={t('tools.description.hint')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            rows={3}
            required
            maxLength={2000}
            value={description}
            onChange={event => setDescription(event.target.value)}
          />
        )}
      </Field>
      <div className={styles.request}>
        <SelectField<Method>
          label={t('tools.method')}
          value={method}
          options={methods.map(value => ({ value, label: value }))}
          onChange={handleMethod}
        />
        <TextField
          label={t('tools.path')}
          hint={t('tools.path.hint')}
          value={path}
          required
          maxLength={1000}
          autoComplete="off"
          className="mono"
          onChange={setPath}
        />
      </div>
      <fieldset className={cx(styles.arguments, 'col gap')}>
        <legend>{t('tools.arguments')}</legend>
        {args.map(one => (
          <ArgumentRow
            key={one.key}
            argument={one}
            onChange={changes => updateArgument(one.key, changes)}
            onRemove={() => setArgs(before => before.filter(other => other.key !== one.key))}
          />
        ))}
        <Button
          size="xs"
          onClick={() =>
            setArgs(before => [
              ...before,
              {
                key: Math.max(0, ...before.map(one => one.key)) + 1,
                name: '',
                where: isReading(method) ? 'query' : 'body',
                type: 'string',
                description: '',
                is_required: false,
                target: '',
              },
            ])
          }
        >
          <Plus className="i s" aria-hidden />
          {t('tools.addArgument')}
        </Button>
      </fieldset>
      <SelectField<ToolEffect>
        label={t('mcp.effect')}
        hint={effect === 'read' && !isReading(method) ? t('tools.effect.confirm') : t('mcp.effect.hint')}
        value={effect}
        options={(['read', 'write'] as const).map(value => ({ value, label: t(`mcp.effect.${value}`) }))}
        onChange={setEffect}
      />
      {effect === 'read' && !isReading(method) ? (
        <label className="row sm">
          <input type="checkbox" required /> {t('tools.effect.sure')}
        </label>
      ) : null}
      <ErrorBanner error={create.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="ink" type="submit" busy={create.isPending ? t('mcp.adding') : null}>
          {t('tools.addOne')}
        </Button>
      </div>
    </form>
  )
}

interface ArgumentRowProps {
  argument: Argument
  onChange(changes: Partial<Argument>): void
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
        onChange={event => onChange({ where: event.target.value as Argument['where'] })}
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
        onChange={event => onChange({ type: event.target.value as Argument['type'] })}
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
