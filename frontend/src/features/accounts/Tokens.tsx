import { KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError, type ApiTokenRow, type TokenInput, useCreateToken, useRevokeToken, useTokens } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { formatShortDate, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { CopyField } from '@/ui/CopyField'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'

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
          {tokens.data ? <TokenList tokens={tokens.data} /> : <Loading query={tokens} lines={2} />}
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
        <NewToken key={create.data.token.id} name={create.data.token.name} text={create.data.text} />
      ) : null}
    </form>
  )
}

/** A new token. Its text is shown once, because the server stores only a hash. */
function NewToken({ name, text }: { name: string; text: string }) {
  const { t } = useTexts()
  return (
    <div className={cx(blocks.banner, blocks.secret, 'col')} role="status">
      <b>
        {t('newToken')}: {name}
      </b>
      <CopyField label={t('newToken')} text={text} />
      <span className="sm">{t('tokenOnce')}</span>
    </div>
  )
}

function TokenList({ tokens }: { tokens: readonly ApiTokenRow[] }) {
  const { t } = useTexts()
  if (tokens.length === 0) return <p className="muted sm">{t('noTokens')}</p>
  return (
    <ul className={blocks.rows}>
      {tokens.map(token => (
        <TokenItem key={token.id} token={token} />
      ))}
    </ul>
  )
}

function TokenItem({ token }: { token: ApiTokenRow }) {
  const { t } = useTexts()
  const hasExpired = token.expires_at !== null && !isFuture(token.expires_at)
  const used = token.last_used_at ? t('tokenUsed', { date: formatShortDate(token.last_used_at) }) : t('tokenUnused')
  const until = token.expires_at ? t('tokenUntil', { date: formatShortDate(token.expires_at) }) : t('tokenForever')
  return (
    <li className={blocks.token}>
      <KeyRound className="i" aria-hidden />
      <span className="grow">
        <span className="cut">{token.name}</span>
        <span className="faint sm">
          <code>{token.prefix}…</code> · {hasExpired ? t('tokenExpired') : until} · {used}
        </span>
      </span>
      <RevokeButton token={token} />
    </li>
  )
}

/** The button that revokes a token after a dialog has shown the effects. */
function RevokeButton({ token }: { token: ApiTokenRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const revoke = useRevokeToken()
  const handleRevoke = () => revoke.mutate(token.id, { onError: error => showToast(getErrorText(error)) })
  return (
    <>
      <Button size="xs" tone="bad" aria-label={t('revokeToken', { name: token.name })} onClick={() => setOpen(true)}>
        {t('revoke')}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('revokeTitle', { name: token.name })}
        description={t('revokeEffects')}
        action={t('revoke')}
        busy={revoke.isPending ? t('revoking') : null}
        onConfirm={handleRevoke}
      />
    </>
  )
}
