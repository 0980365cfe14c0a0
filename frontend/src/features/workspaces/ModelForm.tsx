import { Check, CircleCheck, TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import {
  type ModelChoice,
  type ModelOffer,
  type ModelProvider,
  type ModelRow,
  type ProviderField,
  testModel,
  useChooseModel,
  useModelOffers,
  useModelProviders,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { type PlainTextKey, type Texts, t, useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { formatNumber, formatSeconds } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'

interface Choice {
  id: string
  provider: ModelProvider
  label: string
  hint: string
  /** A model that the server offers without a key; null for a provider with a key. */
  offer: ModelOffer | null
}

const fieldLabels: Record<ProviderField['label'], PlainTextKey> = {
  api_base: 'apiBase',
  api_key: 'apiKey',
  secret_access_key: 'secretAccessKey',
  access_key_id: 'accessKeyId',
  region: 'region',
  api_version: 'apiVersion',
}

/** Texts for missing fields; all other fields are named by their label. */
const missingTexts: Partial<Record<ProviderField['label'], PlainTextKey>> = {
  api_base: 'apiBaseFirst',
  api_key: 'apiKeyFirst',
}

/**
 * Returns the choices: offers without a key first, then the providers, then any other server. For a person's own model,
 * the operator's model, the demo model and providers that are not allowed are left out.
 */
function useChoices({ workspaceId, providers: allowed }: Pick<ModelFormProps, 'workspaceId' | 'providers'>) {
  const { t } = useTexts()
  const isOwn = workspaceId === null
  const offers = useModelOffers().data
  const providers = useModelProviders().data
  return useMemo(() => {
    const known = providers ?? []
    const offerChoices = (offers ?? []).flatMap((offer): Choice[] => {
      const provider = known.find(provider => provider.name === offer.provider)
      if (!provider) return []
      const isDemo = offer.provider === 'demo'
      return [
        {
          id: `offer ${offer.provider} ${offer.api_base ?? ''}`,
          provider,
          label: isDemo ? t('demoModel') : offer.label,
          hint: isDemo ? t('demoHint') : (offer.api_base ?? offer.models.join(', ')),
          offer,
        },
      ]
    })
    const providerChoices = known
      .filter(provider => provider.name !== 'demo')
      .map((provider): Choice => {
        const isOther = provider.name === 'openai_compatible'
        return {
          id: provider.name,
          provider,
          label: isOther ? t('otherServer') : provider.label,
          hint: t(isOther ? 'otherServerHint' : 'withKey'),
          offer: null,
        }
      })
    const local = offerChoices.filter(choice => choice.provider.name !== 'demo')
    const demo = offerChoices.filter(choice => choice.provider.name === 'demo')
    if (!isOwn) return [...local, ...demo, ...providerChoices]
    const isAllowed = ({ provider }: Choice) => !allowed?.length || allowed.includes(provider.name)
    return [...local.filter(choice => choice.offer?.api_base), ...providerChoices].filter(isAllowed)
  }, [offers, providers, isOwn, allowed, t])
}

const isCurrentChoice = (choice: Choice, model: ModelRow) =>
  choice.provider.name === model.provider && (!choice.offer?.api_base || choice.offer.api_base === model.api_base)

interface ModelFormProps {
  /** The workspace, or null for the own model of the signed-in person. */
  workspaceId: string | null
  /** The providers that the operator allows for own models; empty: all. */
  providers?: readonly string[] | undefined
  current: ModelRow | undefined
  action: string
  onDone(model: ModelRow): void
  onKeyDeleted?: (() => void) | undefined
  aside?: ReactNode
}

/** The form that chooses the model of a workspace, or a person's own model. */
export function ModelForm({ workspaceId, providers, current, action, onDone, onKeyDeleted, aside }: ModelFormProps) {
  const { t } = useTexts()
  const choices = useChoices({ workspaceId, providers })
  const [picked, setPicked] = useState<string | null>(null)
  const choice =
    choices.find(choice => choice.id === picked) ??
    (current && choices.find(choice => isCurrentChoice(choice, current))) ??
    choices[0]
  return (
    <div className="col gap">
      <fieldset className={fieldStyles.field}>
        <legend className="sr">{t('model')}</legend>
        <div className={blocks.tpls}>
          {choices.map(option => (
            <label key={option.id} className={cx(blocks.card, blocks.choice)}>
              <input
                type="radio"
                name="provider"
                className="sr"
                checked={option.id === choice?.id}
                onChange={() => setPicked(option.id)}
              />
              <span className="row">
                <b className="grow">{option.label}</b>
                {option.id === choice?.id ? <CircleCheck className="i s" aria-hidden /> : null}
              </span>
              <span className="muted cut">{option.hint}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {choice ? (
        <ChoiceForm
          key={choice.id}
          workspaceId={workspaceId}
          choice={choice}
          current={current && isCurrentChoice(choice, current) ? current : null}
          revision={current?.revision ?? 0}
          action={action}
          onDone={onDone}
          onKeyDeleted={onKeyDeleted}
          aside={aside}
        />
      ) : null}
    </div>
  )
}

interface ChoiceFormProps {
  workspaceId: string | null
  choice: Choice
  current: ModelRow | null
  revision: number
  action: string
  onDone(model: ModelRow): void
  onKeyDeleted?: (() => void) | undefined
  aside?: ReactNode
}

/** Holds the input for a choice, with the stored or offered values at first. `values` are those of the provider's fields. */
function useChoiceInput({ choice, current, revision }: ChoiceFormProps) {
  const { provider, offer } = choice
  const [model, setModel] = useState(current?.default_model ?? offer?.models[0] ?? provider.usual_model)
  const [contextSize, setContextSize] = useState(String(current?.context_size ?? ''))
  const [values, setValues] = useState(() =>
    Object.fromEntries(provider.fields.map(field => [field.name, getInitialValue(field, offer, current)])),
  )
  const setValue = (name: string, value: string) => setValues(before => ({ ...before, [name]: value }))
  const { api_base: base, key, ...others } = values
  const options = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, value.trim()]))
  const chosen: ModelChoice = {
    provider: provider.name,
    default_model: model.trim(),
    ...(base ? { api_base: base.trim() } : {}),
    ...(Object.keys(options).length ? { options } : {}),
    ...(key ? { key: key.trim() } : {}),
    ...(contextSize && provider.name !== 'demo' ? { context_size: Number(contextSize) } : {}),
    revision,
  }
  return { chosen, model, setModel, contextSize, setContextSize, values, setValue }
}

/** Returns the initial value of a field. */
function getInitialValue(field: ProviderField, offer: ModelOffer | null, current: ModelRow | null): string {
  if (field.name === 'key') return ''
  if (field.name === 'api_base') return offer?.api_base ?? current?.api_base ?? ''
  return current?.options[field.name] ?? field.default
}

/** Returns whether a field must be filled in. A stored key need not be entered again. */
const isRequired = (field: ProviderField, current: ModelRow | null) =>
  field.is_required && !(field.name === 'key' && current?.has_key)

type ChoiceInput = ReturnType<typeof useChoiceInput>
type MissingInput = ProviderField | 'model' | null

/** Finds the first missing input before the model can be tested or saved; null if nothing is missing. */
function findMissing({ choice, current }: ChoiceFormProps, form: ChoiceInput): MissingInput {
  if (choice.provider.name === 'demo') return null
  const field = choice.offer
    ? undefined
    : choice.provider.fields.find(field => isRequired(field, current) && !form.values[field.name]?.trim())
  return field ?? (form.model.trim() ? null : 'model')
}

function describeMissing(t: Texts['t'], missing: Exclude<MissingInput, null>): string {
  if (missing === 'model') return t('modelFirst')
  const key = missingTexts[missing.label]
  return key ? t(key) : t('fieldFirst', { field: t(fieldLabels[missing.label]) })
}

function ChoiceForm(props: ChoiceFormProps) {
  const { t } = useTexts()
  const { workspaceId, choice, action, onDone, aside } = props
  const form = useChoiceInput(props)
  const missing = findMissing(props, form)
  const blocked = missing ? describeMissing(t, missing) : false
  const choose = useChooseModel(workspaceId)
  const isDemo = choice.provider.name === 'demo'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    choose.mutate(form.chosen, { onSuccess: onDone })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      {choice.offer || isDemo ? null : <ProviderFields {...props} form={form} />}
      {isDemo ? (
        <p className="muted sm">{t('demoExplained')}</p>
      ) : (
        <ModelNameField {...props} form={form} missing={missing} />
      )}
      <ErrorBanner error={choose.error} />
      <div className="row wrap">
        <Button tone="ink" type="submit" size="lg" busy={choose.isPending ? t('saving') : null} blocked={blocked}>
          {action}
        </Button>
        {isDemo ? null : (
          <TestButton
            key={JSON.stringify(form.chosen)}
            workspaceId={workspaceId}
            choice={form.chosen}
            blocked={blocked}
          />
        )}
        {aside}
      </div>
    </form>
  )
}

function getKeyHint(t: Texts['t'], current: ModelRow | null): string {
  if (current?.key_last4) return t('keyStoredAs', { last4: current.key_last4 })
  return t(current?.has_key ? 'keyStored' : 'keyHint')
}

/** The fields of the provider, for a choice that is not an offer. */
function ProviderFields({ workspaceId, choice, current, form, onKeyDeleted }: ChoiceFormProps & { form: ChoiceInput }) {
  const { t } = useTexts()
  const forget = useChooseModel(workspaceId)
  const forgetKey = () => {
    if (!current) return
    const { provider, api_base, options, default_model, context_size, revision } = current
    forget.mutate(
      {
        provider,
        ...(api_base ? { api_base } : {}),
        ...(context_size ? { context_size } : {}),
        options,
        default_model,
        revision,
        key: '',
      },
      {
        onSuccess: () => {
          showToast(t('keyRemoved'))
          onKeyDeleted?.()
        },
        onError: error => showToast(getErrorText(error)),
      },
    )
  }
  const getHint = (field: ProviderField) => {
    if (field.name === 'key') return getKeyHint(t, current)
    if (choice.provider.name === 'openai_compatible' && field.name === 'api_base') return t('apiBaseHint')
    return t('fieldExample', { example: field.example })
  }
  const mayForget = choice.provider.fields.some(field => field.name === 'key' && !field.is_required)
  return (
    <>
      {choice.provider.fields.map(field => (
        <TextField
          key={field.name}
          label={t(fieldLabels[field.label])}
          hint={getHint(field)}
          value={form.values[field.name] ?? ''}
          type={field.name === 'key' ? 'password' : field.name === 'api_base' ? 'url' : 'text'}
          autoComplete="off"
          placeholder={field.example}
          required={isRequired(field, current)}
          onChange={value => form.setValue(field.name, value)}
        />
      ))}
      {mayForget && current?.has_key ? (
        <div className="row">
          <Button size="xs" tone="bad" busy={forget.isPending ? t('removing') : null} onClick={forgetKey}>
            {t('forgetKey')}
          </Button>
        </div>
      ) : null}
    </>
  )
}

const getTestErrorText = (workspaceId: string | null, code: string) =>
  getRunErrorText(code, t(workspaceId === null ? 'settingsOwnModel' : 'settingsModel'))

interface ServerModels {
  /** The input for which the models were requested. */
  input: string
  models: readonly string[]
  /** The most tokens that these models read, by name, as far as the server says that. */
  sizes: Readonly<Record<string, number>>
  state: 'loading' | 'loaded' | 'failed'
  reason: string
}

/** Reads the models of the chosen server, requested when the model field is focused. */
function useServerModels(workspaceId: string | null, { chosen }: ChoiceInput) {
  const input = JSON.stringify([chosen.provider, chosen.api_base, chosen.options, chosen.key])
  const [known, setKnown] = useState<ServerModels | null>(null)
  const abortController = useRef<AbortController | null>(null)
  useEffect(() => () => abortController.current?.abort(), [])
  const loadModels = async () => {
    if (known?.input === input && known.state !== 'failed') return
    abortController.current?.abort()
    const control = new AbortController()
    abortController.current = control
    setKnown({ input, models: [], sizes: {}, state: 'loading', reason: '' })
    try {
      const test = await testModel(workspaceId, { ...chosen, default_model: '' }, control.signal)
      const reason = test.ok ? '' : getTestErrorText(workspaceId, test.code)
      setKnown({
        input,
        models: test.models,
        sizes: test.context_sizes,
        state: test.ok ? 'loaded' : 'failed',
        reason,
      })
    } catch (error) {
      if (control.signal.aborted) return
      setKnown({ input, models: [], sizes: {}, state: 'failed', reason: getErrorText(error) })
    }
  }
  return { known: known?.input === input ? known : null, loadModels }
}

function ModelNameField(props: ChoiceFormProps & { form: ChoiceInput; missing: MissingInput }) {
  const { t } = useTexts()
  const { workspaceId, choice, form, missing } = props
  const list = useId()
  const isDeployment = choice.provider.model_label === 'deployment'
  const [isTouched, setIsTouched] = useState(false)
  const { known, loadModels } = useServerModels(workspaceId, form)
  const canLoadModels = !choice.offer && choice.provider.lists_models && (missing === null || missing === 'model')
  const size = known?.sizes[form.model.trim()]
  const offeredModels = choice.offer?.models ?? known?.models ?? []
  const hints = {
    loading: () => t('listingModels'),
    loaded: () => t('modelsOffered', { n: known?.models.length ?? 0 }),
    failed: () => t('modelsUnread', { why: known?.reason ?? '' }),
  }
  return (
    <>
      <TextField
        label={t(isDeployment ? 'deployment' : 'standardModel')}
        hint={known ? hints[known.state]() : t(isDeployment ? 'deploymentHint' : 'standardModelHint')}
        error={isTouched && missing === 'model' ? t('modelFirst') : null}
        value={form.model}
        required
        maxLength={200}
        list={list}
        onFocus={() => (canLoadModels ? void loadModels() : undefined)}
        onBlur={() => setIsTouched(true)}
        onChange={form.setModel}
      />
      <datalist id={list}>
        {offeredModels.map(model => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <TextField
        label={t('contextSize')}
        hint={size ? t('contextSizeSaid', { n: formatNumber(size) }) : t('contextSizeHint')}
        value={form.contextSize}
        type="number"
        min={256}
        max={20_000_000}
        placeholder={size ? String(size) : ''}
        onChange={form.setContextSize}
      />
    </>
  )
}

/** Returns what a test has found: why the model failed or, if it answered, how much it reads and what it cannot do. */
function describeTest(t: Texts['t'], workspaceId: string | null, test: Awaited<ReturnType<typeof testModel>>) {
  if (!test.ok) {
    const text = t('modelFailed', { why: getTestErrorText(workspaceId, test.code) })
    return { ok: false, text, detail: test.message }
  }
  const answered = t('modelAnswered', { n: formatSeconds(test.seconds) })
  const [size] = Object.values(test.context_sizes)
  const text = size ? `${answered} ${t('contextSizeSaid', { n: formatNumber(size) })}` : answered
  return { ok: true, text, detail: test.code ? getTestErrorText(workspaceId, test.code) : '' }
}

/** The button that tests a model before it is saved. Its `key` is the choice, so that no result is shown for another choice. */
function TestButton(props: { workspaceId: string | null; choice: ModelChoice; blocked: string | false }) {
  const { t } = useTexts()
  const { workspaceId, choice, blocked } = props
  const [result, setResult] = useState<{ ok: boolean; text: string; detail: string } | null>(null)
  const [busy, setBusy] = useState(false)
  const abortController = useRef(new AbortController())
  useEffect(() => {
    abortController.current = new AbortController()
    return () => abortController.current.abort()
  }, [])
  const runTest = async () => {
    const { signal } = abortController.current
    setBusy(true)
    setResult(null)
    try {
      const test = await testModel(workspaceId, choice, signal)
      if (!signal.aborted) setResult(describeTest(t, workspaceId, test))
    } catch (error) {
      if (!signal.aborted) setResult({ ok: false, text: t('modelFailed', { why: getErrorText(error) }), detail: '' })
    }
    if (!signal.aborted) setBusy(false)
  }
  return (
    <>
      <Button size="lg" busy={busy ? t('testingModel') : null} blocked={blocked} onClick={() => void runTest()}>
        {t('testModel')}
      </Button>
      {result ? (
        <span className={result.ok ? 'ok sm' : 'no sm'} role="status">
          {result.ok ? <Check className="i s" aria-hidden /> : <TriangleAlert className="i s" aria-hidden />}
          {result.text}
          {result.detail ? <span className="muted"> {result.detail}</span> : null}
        </span>
      ) : null}
    </>
  )
}
