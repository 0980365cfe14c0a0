import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Link2Off } from 'lucide-react'
import { useCallback, useEffect } from 'react'
import { join, useJoinOffer, useMe } from '@/api'
import { LanguageSelect } from '@/features/accounts'
import { useAttempt } from '@/lib/attempt'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Empty } from '@/ui/Empty'
import { Logo } from '@/ui/Logo'
import { Skeleton } from '@/ui/Skeleton'

/** The link that a stranger has said yes to, on the way through sign-up: nobody is asked twice. Not in the address, where others could put it. */
let agreed: string | null = null

/** Where an invite link leads. Works signed out: it leads through sign-up, and back here. */
export function JoinScreen() {
  const { t } = useTexts()
  const { token } = useParams({ from: '/join/$token' })
  const offer = useJoinOffer(token)
  return (
    <div className="account">
      <header>
        <Logo />
        <LanguageSelect />
      </header>
      <main>
        {offer.data ? (
          <>
            <h1 className="headline">{t('joinTitle', { workspace: offer.data.workspace_name })}</h1>
            <JoinLead offer={offer.data} />
            <Accept token={token} />
          </>
        ) : offer.error ? (
          <Empty icon={Link2Off} title={t('linkDead')}>
            {textOfError(offer.error)}
          </Empty>
        ) : (
          <Skeleton lines={3} label={t('loading')} />
        )}
      </main>
    </div>
  )
}

function JoinLead({ offer }: { offer: NonNullable<ReturnType<typeof useJoinOffer>['data']> }) {
  const { t, rich } = useTexts()
  return (
    <p className="muted lead">
      {rich('joinLead', { name: offer.invited_by, chat: offer.chat_title, role: t(`role.${offer.role}`) })}{' '}
      {t(`role.${offer.role}.hint`)}
    </p>
  )
}

function useAccept(token: string) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { busy, error, attempt } = useAttempt()
  const accept = useCallback(
    () =>
      void attempt(async () => {
        const joined = await join(token)
        await client.invalidateQueries()
        const params = { workspace: joined.workspace.handle, chat: joined.chat_id }
        void navigate({ to: '/w/$workspace/c/$chat', params, replace: true })
      }),
    [attempt, token, client, navigate],
  )
  return { busy, error, accept }
}

function Accept({ token }: { token: string }) {
  const { t } = useTexts()
  const me = useMe()
  const { busy, error, accept } = useAccept(token)
  const next = `/join/${token}`
  const isSomebody = Boolean(me.data)
  useEffect(() => {
    if (!isSomebody || agreed !== token) return
    agreed = null
    accept()
  }, [isSomebody, token, accept])
  const agree = () => {
    agreed = token
  }
  if (me.data === undefined) return <Skeleton lines={1} label={t('loading')} />
  if (me.data === null) {
    return (
      <div className="row wrap">
        <Link className="btn ink lg" to="/sign-up" search={{ next }} onClick={agree}>
          {t('signUpAndJoin')}
        </Link>
        <Link className="btn lg" to="/sign-in" search={{ next }} onClick={agree}>
          {t('haveAccountSignIn')}
        </Link>
      </div>
    )
  }
  return (
    <div className="col gap">
      <div className="row">
        <Button tone="ink" size="lg" busy={busy ? t('joining') : null} onClick={accept}>
          {t('joinAs', { name: me.data.actor.name })}
        </Button>
      </div>
      {error ? (
        <div className="banner bad" role="alert">
          {textOfError(error)}
        </div>
      ) : null}
    </div>
  )
}
