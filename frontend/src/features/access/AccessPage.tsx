import { KeyRound, Webhook } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  createAgentToken,
  createWebhook,
  type DeliveryRow,
  deleteWebhook,
  revokeAgentToken,
  rotateWebhookSecret,
  sendDeliveryAgain,
  sendWebhookTest,
  setRunsOutside,
  setWebhookEnabled,
  useAccess,
  useAccessChange,
  useDeliveries,
  type WebhookRow,
} from '@/api'
import { ShownOnce, TokenList } from '@/features/accounts'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatFullTime } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { showToast } from '@/ui/toast'

const showError = (error: Error) => showToast(getErrorText(error))

/** The outside programs of an agent: whether one answers for it, its API tokens and its webhooks. */
export function AccessPage({ agentId, name }: { agentId: string; name: string }) {
  const { t } = useTexts()
  const access = useAccess(agentId)
  const change = useAccessChange(agentId)
  const revoke = useAccessChange(agentId)
  if (!access.data) return <Loading query={access} lines={6} />
  const { runs_outside, tokens, webhooks } = access.data
  return (
    <div className={layout.page}>
      <div className={`${layout.pad} col gap`}>
        <section className={blocks.sec}>
          <h2 className={blocks.h}>{t('access.program')}</h2>
          <div className={`${blocks.b} col`}>
            <label className="row">
              <input
                type="checkbox"
                checked={runs_outside}
                onChange={event => {
                  const { checked } = event.target
                  change.mutate(() => setRunsOutside(agentId, checked), { onError: showError })
                }}
              />
              <span>{t('access.runsOutside', { name })}</span>
            </label>
            <p className="hint">{t('access.runsOutsideHint')}</p>
          </div>
        </section>
        <section className={blocks.sec}>
          <h2 className={blocks.h}>{t('tokens')}</h2>
          <div className={`${blocks.b} col gap`}>
            <NewToken agentId={agentId} />
            {tokens.length === 0 ? <p className="muted sm">{t('access.noTokens')}</p> : null}
            <TokenList
              tokens={tokens}
              describeScope={scope => t(`access.scope.${scope}`)}
              isRevoking={revoke.isPending}
              onRevoke={token => revoke.mutate(() => revokeAgentToken(agentId, token.id), { onError: showError })}
            />
          </div>
        </section>
        <section className={blocks.sec}>
          <h2 className={blocks.h}>{t('access.webhooks')}</h2>
          <div className={`${blocks.b} col gap`}>
            <p className="hint">{t('access.webhooksHint')}</p>
            <NewWebhook agentId={agentId} />
            <ul className={blocks.rows}>
              {webhooks.map(webhook => (
                <WebhookItem key={webhook.id} agentId={agentId} webhook={webhook} />
              ))}
            </ul>
          </div>
        </section>
      </div>
    </div>
  )
}

function NewToken({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const [name, setName] = useState('')
  const [scope, setScope] = useState<'full' | 'read'>('full')
  const create = useAccessChange<Awaited<ReturnType<typeof createAgentToken>>>(agentId)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(() => createAgentToken(agentId, { name: name.trim(), scope, days: 90 }), {
      onSuccess: () => setName(''),
    })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('tokenName')}
        value={name}
        required
        maxLength={80}
        autoComplete="off"
        error={create.error ? getErrorText(create.error) : null}
        onChange={setName}
      />
      <SelectField<'full' | 'read'>
        label={t('tokenScope')}
        value={scope}
        options={(['full', 'read'] as const).map(value => ({ value, label: t(`access.scope.${value}`) }))}
        onChange={setScope}
      />
      <div className="row">
        <Button tone="ink" type="submit" blocked={!name.trim()} busy={create.isPending ? t('makingToken') : null}>
          <KeyRound className="i s" aria-hidden />
          {t('makeToken')}
        </Button>
      </div>
      {create.data ? (
        <ShownOnce
          title={`${t('newToken')}: ${create.data.token.name}`}
          label={t('newToken')}
          text={create.data.secret}
        />
      ) : null}
    </form>
  )
}

function NewWebhook({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const [url, setUrl] = useState('')
  const create = useAccessChange<Awaited<ReturnType<typeof createWebhook>>>(agentId)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(() => createWebhook(agentId, url.trim()), { onSuccess: () => setUrl('') })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('access.webhookUrl')}
        type="url"
        placeholder="https://bot.example.com/wake"
        value={url}
        required
        maxLength={2000}
        autoComplete="off"
        error={create.error ? getErrorText(create.error) : null}
        onChange={setUrl}
      />
      <div className="row">
        <Button type="submit" blocked={!url.trim()} busy={create.isPending ? t('access.addingWebhook') : null}>
          <Webhook className="i s" aria-hidden />
          {t('access.addWebhook')}
        </Button>
      </div>
      {create.data ? <ShownOnce label={t('access.secret')} text={create.data.secret} /> : null}
    </form>
  )
}

function WebhookItem({ agentId, webhook }: { agentId: string; webhook: WebhookRow }) {
  const { t } = useTexts()
  const change = useAccessChange(agentId)
  const rotate = useAccessChange<Awaited<ReturnType<typeof rotateWebhookSecret>>>(agentId)
  const act = (run: () => Promise<unknown>) => change.mutate(run, { onError: showError })
  return (
    <li className="col gap">
      <div className="row wrap">
        <code className="cut grow">{webhook.url}</code>
        {webhook.is_enabled ? null : <span className={blocks.badge}>{t('access.off')}</span>}
        <Button size="xs" onClick={() => act(() => sendWebhookTest(agentId, webhook.id))}>
          {t('access.test')}
        </Button>
        <Button size="xs" onClick={() => act(() => setWebhookEnabled(agentId, webhook.id, !webhook.is_enabled))}>
          {t(webhook.is_enabled ? 'access.switchOff' : 'access.switchOn')}
        </Button>
        <Button
          size="xs"
          onClick={() => rotate.mutate(() => rotateWebhookSecret(agentId, webhook.id), { onError: showError })}
        >
          {t('access.newSecret')}
        </Button>
        <Button size="xs" tone="bad" onClick={() => act(() => deleteWebhook(agentId, webhook.id))}>
          {t('access.deleteWebhook')}
        </Button>
      </div>
      {webhook.failing_since ? (
        <p className="hint">{t('access.failingSince', { date: formatFullTime(webhook.failing_since) })}</p>
      ) : null}
      {rotate.data ? <ShownOnce label={t('access.secret')} text={rotate.data.secret} /> : null}
      <Deliveries agentId={agentId} webhookId={webhook.id} />
    </li>
  )
}

function Deliveries({ agentId, webhookId }: { agentId: string; webhookId: string }) {
  const { t } = useTexts()
  const deliveries = useDeliveries(agentId, webhookId).data?.results ?? []
  const again = useAccessChange(agentId)
  if (deliveries.length === 0) return <p className="faint sm">{t('access.noDeliveries')}</p>
  return (
    <ul className={blocks.rows} aria-label={t('access.deliveries')}>
      {deliveries.map((delivery: DeliveryRow) => (
        <li key={delivery.id} className="row wrap">
          <span className="grow sm">
            <code>{delivery.event}</code> · {t(`access.state.${delivery.state}`)} ·{' '}
            {formatFullTime(delivery.created_at)}
            {delivery.error ? <span className="faint"> · {delivery.error}</span> : null}
          </span>
          <Button
            size="xs"
            onClick={() =>
              again.mutate(() => sendDeliveryAgain(agentId, webhookId, delivery.id), { onError: showError })
            }
          >
            {t('access.again')}
          </Button>
        </li>
      ))}
    </ul>
  )
}
