import { Check, Copy, KeyRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type ApiTokenRow, type TokenWish, useMakeToken, useRevokeToken, useTokens } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { isAhead, shortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import { copyText } from '@/ui/copy'
import { Dialog } from '@/ui/Dialog'
import { SelectField, TextField } from '@/ui/Field'
import { Skeleton } from '@/ui/Skeleton'
import { say } from '@/ui/Toasts'

const lives = ['7', '30', '90', '365', ''] as const
type Life = (typeof lives)[number]

/** The API tokens of the person who is signed in. */
export function Tokens() {
  const { t } = useTexts()
  const tokens = useTokens()
  return (
    <>
      <p className="muted sm">
        {t('tokensLead')}{' '}
        <a className="link" href="/api/docs/">
          {t('apiDocs')}
        </a>
      </p>
      <MakeToken />
      <section className="sec">
        <h2 className="h">{t('tokens')}</h2>
        <div className="b">
          {tokens.data ? <List tokens={tokens.data} /> : <Skeleton lines={2} label={t('loading')} />}
          <p className="hint">{t('tokensKept')}</p>
        </div>
      </section>
    </>
  )
}

function MakeToken() {
  const { t } = useTexts()
  const make = useMakeToken()
  const [name, setName] = useState('')
  const [life, setLife] = useState<Life>('90')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const days = (life ? Number(life) : null) as TokenWish['days']
    make.mutate({ name: name.trim(), days }, { onSuccess: () => setName('') })
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
        error={make.error ? textOfError(make.error) : null}
        onChange={setName}
      />
      <SelectField<Life>
        label={t('tokenLife')}
        value={life}
        options={lives.map(value => ({
          value,
          label: value ? t('forDays', { count: Number(value) }) : t('tokenForever'),
        }))}
        onChange={setLife}
      />
      <div className="row">
        <Button tone="ink" type="submit" blocked={!name.trim()} busy={make.isPending ? t('makingToken') : null}>
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
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    const done = await copyText(text)
    setCopied(done)
    if (!done) say(t('copyFailed'))
  }
  return (
    <div className="banner col newtoken" role="status">
      <b>
        {t('newToken')}: {name}
      </b>
      <div className="row">
        <input
          className="input mono"
          readOnly
          aria-label={t('newToken')}
          value={text}
          onFocus={event => event.target.select()}
        />
        <Button onClick={() => void copy()}>
          {copied ? <Check className="i s" aria-hidden /> : <Copy className="i s" aria-hidden />}
          {copied ? t('copied') : t('copy')}
        </Button>
      </div>
      <span className="sm">{t('tokenOnce')}</span>
    </div>
  )
}

function List({ tokens }: { tokens: readonly ApiTokenRow[] }) {
  const { t } = useTexts()
  if (tokens.length === 0) return <p className="muted sm">{t('noTokens')}</p>
  return (
    <ul className="rows">
      {tokens.map(token => (
        <Token key={token.id} token={token} />
      ))}
    </ul>
  )
}

function Token({ token }: { token: ApiTokenRow }) {
  const { t } = useTexts()
  const hasExpired = token.expires_at !== null && !isAhead(token.expires_at)
  const used = token.last_used_at ? t('tokenUsed', { date: shortDate(token.last_used_at) }) : t('tokenUnused')
  const until = token.expires_at ? t('tokenUntil', { date: shortDate(token.expires_at) }) : t('tokenForever')
  return (
    <li className="token">
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
  const go = () => revoke.mutate(token.id, { onError: error => say(textOfError(error)) })
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
