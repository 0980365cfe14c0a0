import { Bell, BellRing, Check } from 'lucide-react'
import { type ActorRow, type DraftRow, useLockWaiter, useRequestDraft, useWaitForDraft } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import { showToast } from '@/ui/toast'
import workshopStyles from './Workshop.module.css'

/** What a reader can do while the draft is locked: ask the holder for it, and join its waitlist. */
export function WaitlistButtons({ draft, writer }: { draft: DraftRow; writer: ActorRow }) {
  const { t } = useTexts()
  const waiter = useLockWaiter(draft, writer.id).data
  const ask = useRequestDraft(draft, writer.id)
  const wait = useWaitForDraft(draft, writer.id)
  const isWaiting = waiter?.is_waiting ?? false
  const requestedAt = waiter?.requested_at ?? null
  const failed = { onError: (error: unknown) => showToast(textOfError(error)) }

  const press = () => {
    if (requestedAt) return showToast(t('askedAlready', { name: writer.name, time: formatTime(requestedAt) }))
    ask.mutate(undefined, { ...failed, onSuccess: () => showToast(t('askedFor', { name: writer.name })) })
  }
  return (
    <span className={workshopStyles.waitlist}>
      <Button size="xs" busy={ask.isPending ? t('asking') : null} onClick={press}>
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
        onClick={() => wait.mutate(!isWaiting, failed)}
      >
        {isWaiting ? <BellRing className="i" aria-hidden /> : <Bell className="i" aria-hidden />}
      </IconButton>
    </span>
  )
}
