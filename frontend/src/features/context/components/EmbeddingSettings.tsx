import { TriangleAlert } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  type BodyOf,
  type EmbeddingModelRow,
  type ModelRow,
  useChangeEmbeddingModel,
  useEmbeddingModel,
  useModelProviders,
  type WorkspaceRow,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { type Texts, useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { formatNumber } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'

type ProviderName = BodyOf<'/api/v1/workspaces/{workspace_id}/embedding-model', 'put'>['provider']

/** The providers that the form offers, and the usual embedding model of each. */
const usualModels: Partial<Record<ProviderName, string>> = {
  openai: 'text-embedding-3-small',
  mistral: 'mistral-embed',
  openrouter: 'openai/text-embedding-3-small',
  openai_compatible: '',
}
const providerNames = Object.keys(usualModels) as ProviderName[]

/** The model by which older messages are found by their meaning, and not only by their words. */
export function EmbeddingSettings({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const query = useEmbeddingModel(workspace.id)
  const row = query.data
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('embeddings.title')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        <p className="muted sm">{t('embeddings.about')}</p>
        {row ? (
          <>
            <Progress row={row} />
            {workspace.verbs.includes('set_model') && row.is_supported ? (
              <RowForm row={row} revision={row.model?.revision ?? 0}>
                {(row, onSaved) => <EmbeddingForm row={row} workspaceId={workspace.id} onSaved={onSaved} />}
              </RowForm>
            ) : null}
          </>
        ) : (
          <Loading query={query} lines={3} />
        )}
      </div>
    </section>
  )
}

/** Whether messages are embedded, for how many chats this is done, and why the last request failed. */
function Progress({ row }: { row: EmbeddingModelRow }) {
  const { t } = useTexts()
  if (!row.is_supported)
    return (
      <p className="row sm">
        <TriangleAlert className="i s" aria-hidden />
        {t('embeddings.unsupported')}
      </p>
    )
  if (!row.model) return <p className="sm">{t('embeddings.none')}</p>
  const done = (row.chats ?? 0) - (row.due_chats ?? 0)
  return (
    <>
      <p className="sm">
        <b>{row.model.default_model}</b> ·{' '}
        {row.chats ? t('embeddings.progress', { done: formatNumber(done), count: row.chats }) : t('embeddings.noChats')}
      </p>
      {row.failed_at ? (
        <p className="no sm" role="status">
          {t('embeddings.failed', {
            why: row.failure_message || getRunErrorText(row.failure_code ?? '', t('settings.context')),
          })}
        </p>
      ) : null}
    </>
  )
}

/** Returns the stored provider. The server has accepted it, so it is one that has embeddings. */
const getProvider = (stored: ModelRow) => stored.provider as ProviderName

const getInitialName = (stored: ModelRow | null | undefined, provider: ProviderName) =>
  stored?.provider === provider ? stored.default_model : (usualModels[provider] ?? '')

function getKeyHint(stored: ModelRow | null, t: Texts['t']): string {
  if (!stored) return t('keyHint')
  return stored.key_last4 ? t('keyStoredAs', { last4: stored.key_last4 }) : t('keyStored')
}

/** Holds the input of the form, with the stored values of a provider at first. */
function useEmbeddingInput(model: ModelRow | null) {
  const [provider, setProvider] = useState<ProviderName>(model ? getProvider(model) : 'openai')
  const [name, setName] = useState(getInitialName(model, provider))
  const [apiBase, setApiBase] = useState(model?.api_base ?? '')
  const [key, setKey] = useState('')
  const stored = model?.provider === provider ? model : null
  const hasKey = Boolean(stored?.has_key) && (stored?.api_base ?? '') === apiBase
  const isOther = provider === 'openai_compatible'
  const body = {
    provider,
    default_model: name.trim(),
    ...(apiBase.trim() ? { api_base: apiBase.trim() } : {}),
    ...(stored ? { options: stored.options } : {}),
    ...(key.trim() ? { key: key.trim() } : {}),
    revision: model?.revision ?? 0,
  }
  const isIncomplete = body.default_model === '' || (isOther ? !body.api_base : !hasKey && !body.key)
  const chooseProvider = (chosen: ProviderName) => {
    setProvider(chosen)
    setName(getInitialName(model, chosen))
    setApiBase(chosen === model?.provider ? (model.api_base ?? '') : '')
    setKey('') // the key of another provider
  }
  return { body, isIncomplete, hasKey, name, setName, apiBase, setApiBase, key, setKey, chooseProvider }
}

interface EmbeddingFormProps {
  row: EmbeddingModelRow
  workspaceId: string
  onSaved(): void
}

function EmbeddingForm({ row, workspaceId, onSaved }: EmbeddingFormProps) {
  const { t } = useTexts()
  const model = row.model ?? null
  const providers = useModelProviders().data ?? []
  const change = useChangeEmbeddingModel(workspaceId)
  const input = useEmbeddingInput(model)
  const { provider } = input.body
  const names = new Set(model ? [...providerNames, getProvider(model)] : providerNames)
  const getLabel = (value: ProviderName) =>
    value === 'openai_compatible' ? t('otherServer') : (providers.find(one => one.name === value)?.label ?? value)
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(input.body, {
      onSuccess: () => {
        showToast(t('context.saved'))
        onSaved()
      },
    })
  }
  return (
    <form className="col gap" onSubmit={save}>
      <SelectField<ProviderName>
        label={t('embeddings.provider')}
        value={provider}
        options={[...names].map(value => ({ value, label: getLabel(value) }))}
        onChange={input.chooseProvider}
      />
      {provider === 'openai_compatible' || input.apiBase ? (
        <TextField
          label={t('apiBase')}
          hint={t('embeddings.apiBaseHint')}
          type="url"
          value={input.apiBase}
          onChange={input.setApiBase}
        />
      ) : null}
      <TextField
        label={t('apiKey')}
        hint={getKeyHint(input.hasKey ? model : null, t)}
        type="password"
        autoComplete="off"
        value={input.key}
        onChange={input.setKey}
      />
      <TextField
        label={t('embeddings.model')}
        hint={t('embeddings.modelHint')}
        value={input.name}
        error={change.error ? getErrorText(change.error) : null}
        onChange={input.setName}
      />
      <div className="row">
        <Button type="submit" blocked={input.isIncomplete} busy={change.isPending ? t('saving') : null}>
          {model ? t('saveChanges') : t('embeddings.use')}
        </Button>
        {model ? (
          <RemoveModelButton busy={change.isPending} onStop={() => change.mutate(null, { onSuccess: onSaved })} />
        ) : null}
      </div>
    </form>
  )
}

/** The button that deletes the model after a dialog has shown the effects. */
function RemoveModelButton({ busy, onStop }: { busy: boolean; onStop(): void }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button tone="bad" blocked={busy} onClick={() => setOpen(true)}>
        {t('embeddings.stop')}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('embeddings.stopTitle')}
        description={t('embeddings.stopEffects')}
        action={t('embeddings.stop')}
        onConfirm={() => {
          setOpen(false)
          onStop()
        }}
      />
    </>
  )
}
