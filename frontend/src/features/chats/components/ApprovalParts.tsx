/** The parts that the cards of calls and of questions share. */
import { Clock } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import type { ApprovalAsked } from '@/api'
import { useTexts } from '@/lib/language'
import styles from './ApprovalCard.module.css'
import { useChat } from './ChatContext'

const MINUTE_MS = 60_000

/** Says who may decide. */
export function WhoDecides({ payload }: { payload: ApprovalAsked }) {
  const { t } = useTexts()
  const { me, findActor } = useChat()
  const name = findActor(payload.person_id ?? null)?.name ?? payload.person_name
  const text: ReactNode =
    payload.person_id === me
      ? t('approval.youOrEditor')
      : name
        ? t('approval.personOrEditor', { name })
        : t('approval.editorDecides')
  return <span className={styles.who}>{text}</span>
}

/** The time until the call or the question expires; it changes every minute. */
export function Expiry({ at }: { at: string }) {
  const { t } = useTexts()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS / 2)
    return () => clearInterval(timer)
  }, [])
  const minutes = Math.max(0, Math.floor((Date.parse(at) - now) / MINUTE_MS))
  const [h, m] = [Math.floor(minutes / 60), minutes % 60]
  const time = h ? t('approval.hoursMinutes', { h, m }) : t('approval.minutes', { m })
  return (
    <span className={styles.expiry}>
      <Clock className="i s" aria-hidden />
      {t('approval.expires', { time })}
    </span>
  )
}
