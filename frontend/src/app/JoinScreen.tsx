import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Link2Off } from 'lucide-react'
import { useCallback, useEffect } from 'react'
import { joinByLink, useJoinOffer, useMe } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { sentenceGap, useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { EmptyState } from '@/ui/EmptyState'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Skeleton } from '@/ui/Skeleton'
import { AccountLayout } from './AccountLayout'
import { ButtonLink } from './ButtonLink'

/** The token of the invite link that was accepted before sign-up. It is not kept in the URL, which others could make up. */
let acceptedToken: string | null = null

/** The page of an invite link. A person who is signed out goes through sign-up and comes back. */
export function JoinScreen() {
  const { t } = useTexts()
  const { token } = useParams({ from: '/join/$token' })
  const offer = useJoinOffer(token)
  usePageTitle(
    offer.data ? t('joinTitle', { workspace: offer.data.workspace_name }) : offer.error ? t('linkDead') : undefined,
  )
  return (
    <AccountLayout>
      {offer.data ? (
        <>
          <h1 className={blocks.headline}>{t('joinTitle', { workspace: offer.data.workspace_name })}</h1>
          <JoinLead offer={offer.data} />
          <AcceptInvite token={token} />
        </>
      ) : offer.error ? (
        <EmptyState
          icon={Link2Off}
          title={t('linkDead')}
          actions={
            <ButtonLink tone="ink" to="/">
              {t('toStart')}
            </ButtonLink>
          }
        >
          {getErrorText(offer.error)}
        </EmptyState>
      ) : (
        <Skeleton lines={3} label={t('loading')} />
      )}
    </AccountLayout>
  )
}

function JoinLead({ offer }: { offer: NonNullable<ReturnType<typeof useJoinOffer>['data']> }) {
  const { t, rich } = useTexts()
  return (
    <p className={cx(blocks.lead, 'muted')}>
      {rich(`${offer.chat_title ? 'joinLead' : 'joinLeadUntitled'}.${offer.role}`, {
        name: offer.invited_by,
        chat: offer.chat_title,
      })}
      {sentenceGap()}
      {t(`role.${offer.role}.hint`)}
    </p>
  )
}

function useAcceptInvite(token: string) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { busy, error, run } = useAsyncAction()
  const accept = useCallback(
    () =>
      void run(async () => {
        const joined = await joinByLink(token)
        await client.invalidateQueries()
        const params = { workspace: joined.workspace.handle, chat: joined.chat_id }
        void navigate({ to: '/w/$workspace/c/$chat', params, replace: true })
      }),
    [run, token, client, navigate],
  )
  return { busy, error, accept }
}

function AcceptInvite({ token }: { token: string }) {
  const { t } = useTexts()
  const me = useMe()
  const { busy, error, accept } = useAcceptInvite(token)
  const next = `/join/${token}`
  const isSignedIn = Boolean(me.data)
  useEffect(() => {
    if (!isSignedIn || acceptedToken !== token) return
    acceptedToken = null
    accept()
  }, [isSignedIn, token, accept])
  const rememberAcceptance = () => {
    acceptedToken = token
  }
  if (me.data === undefined) return <Skeleton lines={1} label={t('loading')} />
  if (me.data === null) {
    return (
      <div className="row wrap">
        <ButtonLink tone="ink" to="/sign-up" search={{ next }} onClick={rememberAcceptance}>
          {t('signUpAndJoin')}
        </ButtonLink>
        <ButtonLink to="/sign-in" search={{ next }} onClick={rememberAcceptance}>
          {t('haveAccountSignIn')}
        </ButtonLink>
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
      <ErrorBanner error={error} />
    </div>
  )
}
