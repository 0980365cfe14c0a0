import { KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError, type ApiTokenRow, type TokenInput, useCreateToken, useRevokeToken, useTokens } from '@/api'
import { getErrorText } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import { ShownOnce, TokenList } from './ApiTokens'

const lifetimes = ['7', '30', '90', '365', ''] as const
type Lifetime = (typeof lifetimes)[number]

/** The API tokens of the person who is signed in. */
export function Tokens() {
  const { t } = useTexts()
  const tokens = useTokens()
  return (
    <>
      <p className="muted sm">
        {t('tokensLead')}
        {sentenceGap()}
        <a className="link" href="/api/docs/">
          {t('apiDocs')}
        </a>
      </p>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('newToken')}</h2>
        <div className={blocks.b}>
          <CreateToken />
        </div>
      </section>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('tokens')}</h2>
        <div className={blocks.b}>
          {tokens.data ? <OwnTokens tokens={tokens.data} /> : <Loading query={tokens} lines={2} />}
          <p className="hint">{t('tokensStored')}</p>
        </div>
      </section>
    </>
  )
}

function CreateToken() {
  const { t } = useTexts()
  const create = useCreateToken()
  const [name, setName] = useState('')
  const [lifetime, setLifetime] = useState<Lifetime>('90')
  const [scope, setScope] = useState<TokenInput['scope']>('full')
  const [password, setPassword] = useState('')
  const isPasswordWrong = create.error instanceof ApiError && create.error.code === 'wrong_password'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const days = (lifetime ? Number(lifetime) : null) as TokenInput['days']
    const clearForm = () => {
      setName('')
      setPassword('')
    }
    create.mutate({ name: name.trim(), days, password, scope }, { onSuccess: clearForm })
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <TextField
        label={t('tokenName')}
        placeholder={t('tokenNamePlaceholder')}
        value={name}
        required
        maxLength={80}
        autoComplete="off"
        error={create.error && !isPasswordWrong ? getErrorText(create.error) : null}
        onChange={setName}
      />
      <SelectField<TokenInput['scope']>
        label={t('tokenScope')}
        value={scope}
        options={(['full', 'read'] as const).map(value => ({ value, label: t(`tokenScope.${value}`) }))}
        onChange={setScope}
      />
      <SelectField<Lifetime>
        label={t('tokenLife')}
        value={lifetime}
        options={lifetimes.map(value => ({
          value,
          label: value ? t('inDays', { count: Number(value) }) : t('never'),
        }))}
        onChange={setLifetime}
      />
      <TextField
        label={t('tokenPassword')}
        type="password"
        value={password}
        required
        autoComplete="current-password"
        error={isPasswordWrong ? getErrorText(create.error) : null}
        onChange={setPassword}
      />
      <div className="row">
        <Button
          tone="ink"
          type="submit"
          blocked={!name.trim() || !password}
          busy={create.isPending ? t('makingToken') : null}
        >
          <KeyRound className="i s" aria-hidden />
          {t('makeToken')}
        </Button>
      </div>
      {create.data ? (
        <ShownOnce
          key={create.data.token.id}
          title={`${t('newToken')}: ${create.data.token.name}`}
          label={t('newToken')}
          text={create.data.secret}
        />
      ) : null}
    </form>
  )
}

/** The person's tokens, with the dialog that revokes one. */
function OwnTokens({ tokens }: { tokens: readonly ApiTokenRow[] }) {
  const { t } = useTexts()
  const revoke = useRevokeToken()
  if (tokens.length === 0) return <p className="muted sm">{t('noTokens')}</p>
  return (
    <TokenList
      tokens={tokens}
      describeScope={scope => t(`tokenScope.${scope}`)}
      isRevoking={revoke.isPending}
      onRevoke={token => revoke.mutate(token.id, { onError: error => showToast(getErrorText(error)) })}
    />
  )
}
