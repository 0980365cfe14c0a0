import { Bell, BellRing, Check } from 'lucide-react'
import { type ActorRow, type DraftRow, useLockWaiter, useRequestDraft, useSetLockWaiter } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import { showToast } from '@/ui/toast'
import workshopStyles from './Workshop.module.css'

/** The buttons of a reader while the draft is locked: request it from the holder, and join its waitlist. */
export function WaitlistButtons({ draft, writer }: { draft: DraftRow; writer: ActorRow }) {
  const { t } = useTexts()
  const waiter = useLockWaiter(draft, writer.id).data
  const request = useRequestDraft(draft, writer.id)
  const wait = useSetLockWaiter(draft, writer.id)
  const isWaiting = waiter?.wants_notice ?? false
  const requestedAt = waiter?.requested_at ?? null
  const showFailure = { onError: (error: unknown) => showToast(getErrorText(error)) }

  const handleRequest = () => {
    if (requestedAt) return showToast(t('askedAlready', { name: writer.name, time: formatTime(requestedAt) }))
    request.mutate(undefined, { ...showFailure, onSuccess: () => showToast(t('askedFor', { name: writer.name })) })
  }
  return (
    <span className={workshopStyles.waitlist}>
      <Button size="xs" busy={request.isPending ? t('asking') : null} onClick={handleRequest}>
        {requestedAt ? (
          <>
            <Check className="i s" aria-hidden />
            {t('asked')}
          </>
        ) : (
          t('askForIt')
        )}
      </Button>
      <IconButton
        small
        label={t('notifyWhenFree')}
        aria-pressed={isWaiting}
        onClick={() => wait.mutate(!isWaiting, showFailure)}
      >
        {isWaiting ? <BellRing className="i" aria-hidden /> : <Bell className="i" aria-hidden />}
      </IconButton>
    </span>
  )
}
