import { useViewings, type ViewingRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatDateTime, formatTime, isFuture } from '@/lib/time'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'

/** When operators have viewed as this person, and why. */
export function Viewings() {
  const { t } = useTexts()
  const query = useViewings()
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('viewings.title')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        <p className="hint">{t('viewings.hint')}</p>
        {query.data ? <ViewingList viewings={query.data} /> : <Loading query={query} lines={2} />}
      </div>
    </section>
  )
}

function ViewingList({ viewings }: { viewings: readonly ViewingRow[] }) {
  const { t } = useTexts()
  if (viewings.length === 0) return <p className="faint sm">{t('viewings.none')}</p>
  const describeTime = ({ started_at, ends_at, ended_at }: ViewingRow) => {
    const isRunning = ended_at === null && isFuture(ends_at)
    const times = { from: formatDateTime(started_at), to: formatTime(ended_at ?? ends_at) }
    return t(isRunning ? 'viewings.now' : 'viewings.from', times)
  }
  return (
    <ul className={blocks.rows}>
      {viewings.map(viewing => (
        <li key={viewing.id} className="wrap">
          <b>{viewing.operator.name}</b>
          <span className="grow">{viewing.reason}</span>
          <span className="faint xs">{describeTime(viewing)}</span>
        </li>
      ))}
    </ul>
  )
}
