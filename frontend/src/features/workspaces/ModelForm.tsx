import { Check, TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useMemo, useState } from 'react'
import {
  type ModelChoice,
  type ModelOffer,
  type ModelRow,
  type ModelTest,
  testModel,
  useChooseModel,
  useOffers,
} from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { seconds } from '@/lib/time'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

type Provider = ModelRow['provider']

interface Choice {
  id: string
  provider: Provider
  label: string
  hint: string
  offer: ModelOffer | null
}

/** A model each provider is known for; the field can be changed. */
const usual: Record<Provider, string> = {
  demo: 'demo',
  openai: 'gpt-4.1-mini',
  anthropic: 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  openrouter: 'openai/gpt-4.1-mini',
  openai_compatible: '',
}

const named: readonly { provider: Provider; label: string }[] = [
  { provider: 'openai', label: 'OpenAI' },
  { provider: 'anthropic', label: 'Anthropic' },
  { provider: 'gemini', label: 'Google Gemini' },
  { provider: 'openrouter', label: 'OpenRouter' },
]

/** What can be chosen: what is to be had here without a key first, then the providers, then any other server. */
function useChoices(): Choice[] {
  const { t } = useTexts()
  const offers = useOffers().data
  return useMemo(() => {
    const offered = (offers ?? []).map(
      (offer): Choice => ({
        id: `offer ${offer.provider} ${offer.api_base ?? ''}`,
        provider: offer.provider,
        label: offer.provider === 'demo' ? t('demoModel') : offer.label,
        hint: offer.provider === 'demo' ? t('demoHint') : (offer.api_base ?? offer.models.join(', ')),
        offer,
      }),
    )
    const keyed = named.map(
      ({ provider, label }): Choice => ({ id: provider, provider, label, hint: t('withKey'), offer: null }),
    )
    const local = offered.filter(choice => choice.provider !== 'demo')
    const demo = offered.filter(choice => choice.provider === 'demo')
    return [
      ...local,
      ...demo,
      ...keyed,
      { id: 'other', provider: 'openai_compatible', label: t('otherServer'), hint: t('otherServerHint'), offer: null },
    ]
  }, [offers, t])
}

const isSet = (choice: Choice, model: ModelRow) =>
  choice.provider === model.provider &&
  (choice.provider !== 'openai_compatible' || !choice.offer || choice.offer.api_base === model.api_base)

interface ModelFormProps {
  workspaceId: string
  current: ModelRow | undefined
  action: string
  onDone(model: ModelRow): void
  aside?: ReactNode
}

/** What the agents of a workspace think with. */
export function ModelForm({ workspaceId, current, action, onDone, aside }: ModelFormProps) {
  const { t } = useTexts()
  const choices = useChoices()
  const [picked, setPicked] = useState<string | null>(null)
  const choice =
    choices.find(each => each.id === picked) ?? (current && choices.find(each => isSet(each, current))) ?? choices[0]
  return (
    <div className="col gap">
      <fieldset className="field">
        <legend className="sr">{t('model')}</legend>
        <div className="tpls">
          {choices.map(each => (
            <label key={each.id} className="card choice">
              <input
                type="radio"
                name="provider"
                className="sr"
                checked={each.id === choice?.id}
                onChange={() => setPicked(each.id)}
              />
              <b>{each.label}</b>
              <span className="muted cut">{each.hint}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {choice ? (
        <Details
          key={choice.id}
          workspaceId={workspaceId}
          choice={choice}
          current={current && isSet(choice, current) ? current : null}
          revision={current?.revision}
          action={action}
          onDone={onDone}
          aside={aside}
        />
      ) : null}
    </div>
  )
}

interface DetailsProps {
  workspaceId: string
  choice: Choice
  current: ModelRow | null
  revision: number | undefined
  action: string
  onDone(model: ModelRow): void
  aside?: ReactNode
}

/** What is typed about a model, beginning with what is set or offered. */
function useChosen({ choice, current, revision }: DetailsProps) {
  const { provider, offer } = choice
  const [model, setModel] = useState(current?.default_model ?? offer?.models[0] ?? usual[provider])
  const [base, setBase] = useState(offer?.api_base ?? current?.api_base ?? '')
  const [key, setKey] = useState('')
  const chosen: ModelChoice = {
    provider,
    default_model: model.trim(),
    ...(base ? { api_base: base.trim() } : {}),
    ...(key ? { key: key.trim() } : {}),
    ...(revision === undefined ? {} : { revision }),
  }
  return { chosen, model, setModel, base, setBase, key, setKey }
}

function Details(props: DetailsProps) {
  const { t } = useTexts()
  const { workspaceId, choice, action, onDone, aside } = props
  const form = useChosen(props)
  const choose = useChooseModel(workspaceId)
  const isDemo = choice.provider === 'demo'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    choose.mutate(form.chosen, { onSuccess: row => onDone(row as ModelRow) })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      {choice.offer || isDemo ? null : <Access {...props} form={form} />}
      {isDemo ? (
        <p className="muted sm">{t('demoExplained')}</p>
      ) : (
        <ModelName choice={choice} value={form.model} onChange={form.setModel} />
      )}
      {choose.error ? (
        <div className="banner bad" role="alert">
          {textOfError(choose.error)}
        </div>
      ) : null}
      <div className="row wrap">
        <Button
          tone="ink"
          type="submit"
          size="lg"
          busy={choose.isPending ? t('saving') : null}
          blocked={form.model.trim() || isDemo ? false : t('modelFirst')}
        >
          {action}
        </Button>
        {isDemo ? null : <TryIt workspaceId={workspaceId} choice={form.chosen} />}
        {aside}
      </div>
    </form>
  )
}

/** Address and key, where the choice does not bring them. */
function Access({ choice, current, form }: DetailsProps & { form: ReturnType<typeof useChosen> }) {
  const { t } = useTexts()
  const isOther = choice.provider === 'openai_compatible'
  return (
    <>
      {isOther ? (
        <TextField
          label={t('apiBase')}
          hint={t('apiBaseHint')}
          value={form.base}
          required
          type="url"
          placeholder="https://llm.example.org/v1"
          onChange={form.setBase}
        />
      ) : null}
      <TextField
        label={t('apiKey')}
        hint={current?.key_last4 ? t('keyKept', { last4: current.key_last4 }) : t('keyHint')}
        value={form.key}
        type="password"
        autoComplete="off"
        required={!isOther && !current?.key_last4}
        onChange={form.setKey}
      />
    </>
  )
}

function ModelName({ choice, value, onChange }: { choice: Choice; value: string; onChange(value: string): void }) {
  const { t } = useTexts()
  return (
    <>
      <TextField
        label={t('standardModel')}
        hint={t('standardModelHint')}
        value={value}
        required
        maxLength={200}
        list="offered"
        onChange={onChange}
      />
      <datalist id="offered">
        {choice.offer?.models.map(model => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  )
}

/** Asks the model one short question before it is chosen. */
function TryIt({ workspaceId, choice }: { workspaceId: string; choice: ModelChoice }) {
  const { t } = useTexts()
  const [result, setResult] = useState<ModelTest | null>(null)
  const [busy, setBusy] = useState(false)
  const ask = async () => {
    setBusy(true)
    setResult(null)
    setResult(
      await testModel(workspaceId, choice).catch((error: unknown) => ({
        ok: false,
        message: textOfError(error),
        seconds: 0,
      })),
    )
    setBusy(false)
  }
  return (
    <>
      <Button size="lg" busy={busy ? t('trying') : null} onClick={() => void ask()}>
        {t('tryModel')}
      </Button>
      {result ? (
        <span className={result.ok ? 'ok sm' : 'no sm'} role="status">
          {result.ok ? <Check className="i s" aria-hidden /> : <TriangleAlert className="i s" aria-hidden />}
          {result.ok ? t('modelAnswered', { n: seconds(result.seconds) }) : t('modelFailed', { why: result.message })}
        </span>
      ) : null}
    </>
  )
}
