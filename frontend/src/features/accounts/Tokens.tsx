import { KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError, type ApiTokenRow, type TokenInput, useCreateToken, useRevokeToken, useTokens } from '@/api'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { formatShortDate, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { CopyField } from '@/ui/CopyField'
import { Dialog } from '@/ui/Dialog'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'

const lives = ['7', '30', '90', '365', ''] as const
type Life = (typeof lives)[number]

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
          <MakeToken />
        </div>
      </section>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('tokens')}</h2>
        <div className={blocks.b}>
          {tokens.data ? <List tokens={tokens.data} /> : <Loading query={tokens} lines={2} />}
          <p className="hint">{t('tokensStored')}</p>
        </div>
      </section>
    </>
  )
}

function MakeToken() {
  const { t } = useTexts()
  const make = useCreateToken()
  const [name, setName] = useState('')
  const [life, setLife] = useState<Life>('90')
  const [scope, setScope] = useState<TokenInput['scope']>('full')
  const [password, setPassword] = useState('')
  const isOfPassword = make.error instanceof ApiError && make.error.code === 'wrong_password'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const days = (life ? Number(life) : null) as TokenInput['days']
    const done = () => {
      setName('')
      setPassword('')
    }
    make.mutate({ name: name.trim(), days, password, scope }, { onSuccess: done })
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
        error={make.error && !isOfPassword ? textOfError(make.error) : null}
        onChange={setName}
      />
      <SelectField<TokenInput['scope']>
        label={t('tokenScope')}
        value={scope}
        options={(['full', 'read'] as const).map(value => ({ value, label: t(`tokenScope.${value}`) }))}
        onChange={setScope}
      />
      <SelectField<Life>
        label={t('tokenLife')}
        value={life}
        options={lives.map(value => ({
          value,
          label: value ? t('inDays', { count: Number(value) }) : t('never'),
        }))}
        onChange={setLife}
      />
      <TextField
        label={t('tokenPassword')}
        type="password"
        value={password}
        required
        autoComplete="current-password"
        error={isOfPassword ? textOfError(make.error) : null}
        onChange={setPassword}
      />
      <div className="row">
        <Button
          tone="ink"
          type="submit"
          blocked={!name.trim() || !password}
          busy={make.isPending ? t('makingToken') : null}
        >
          <KeyRound className="i s" aria-hidden />
          {t('makeToken')}
        </Button>
      </div>
      {make.data ? <NewToken key={make.data.token.id} name={make.data.token.name} text={make.data.text} /> : null}
    </form>
  )
}

/** The text is shown this once: only its hash is stored. */
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

function List({ tokens }: { tokens: readonly ApiTokenRow[] }) {
  const { t } = useTexts()
  if (tokens.length === 0) return <p className="muted sm">{t('noTokens')}</p>
  return (
    <ul className={blocks.rows}>
      {tokens.map(token => (
        <Token key={token.id} token={token} />
      ))}
    </ul>
  )
}

function Token({ token }: { token: ApiTokenRow }) {
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
      <Revoke token={token} />
    </li>
  )
}

/** Revoking shows its effects first. */
function Revoke({ token }: { token: ApiTokenRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const revoke = useRevokeToken()
  const go = () => revoke.mutate(token.id, { onError: error => showToast(textOfError(error)) })
  return (
    <>
      <Button size="xs" tone="bad" aria-label={t('revokeToken', { name: token.name })} onClick={() => setOpen(true)}>
        {t('revoke')}
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('revokeTitle', { name: token.name })}
        description={t('revokeEffects')}
      >
        <div className="row endrow">
          <Button onClick={() => setOpen(false)}>{t('cancel')}</Button>
          <Button tone="bad" busy={revoke.isPending ? t('revoking') : null} onClick={go}>
            {t('revoke')}
          </Button>
        </div>
      </Dialog>
    </>
  )
}
