import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { type ReplyRow, useReplies } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatCurrency, formatFullTime, formatSeconds, formatShortDate, formatTime } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Skeleton } from '@/ui/Skeleton'
import versionsStyles from './Versions.module.css'

interface RepliesProps {
  agentId: string
  version: number
  /** Renders a link to the message of a reply. */
  link(row: ReplyRow, children: ReactNode): ReactNode
}

/** The replies of a version in the reader's chats. */
export function Replies({ agentId, version, link }: RepliesProps) {
  const { t } = useTexts()
  const replies = useReplies(agentId, version)
  const rows = replies.data?.pages.flatMap(page => page.results)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('repliesOf', { version: `v${version}` })}
        <span className="end xs faint">{t('repliesYours')}</span>
      </h2>
      <div className={blocks.b}>
        {replies.error ? (
          <div className={cx(blocks.banner, blocks.bad)} role="alert">
            <CircleAlert className="i s" aria-hidden />
            <span className="grow">{getErrorText(replies.error)}</span>
            <Button size="xs" onClick={() => void replies.refetch()}>
              {t('retry')}
            </Button>
          </div>
        ) : null}
        {rows ? null : replies.error ? null : <Skeleton lines={3} label={t('loading')} />}
        {rows?.length === 0 ? <p className="sm faint">{t('noReplies')}</p> : null}
        {rows?.length ? (
          <ul className={versionsStyles.replies}>
            {rows.map(row => (
              <ReplyItem key={row.run_id} row={row} link={link} />
            ))}
          </ul>
        ) : null}
        {replies.hasNextPage ? (
          <Button busy={replies.isFetchingNextPage ? t('loading') : null} onClick={() => void replies.fetchNextPage()}>
            {t('moreReplies')}
          </Button>
        ) : null}
      </div>
    </section>
  )
}

function ReplyItem({ row, link }: { row: ReplyRow; link: RepliesProps['link'] }) {
  const { t } = useTexts()
  const outcome = row.state === 'completed' ? null : row.state === 'failed' ? t('replyFailed') : t('replyNotDone')
  return (
    <li>
      <time className="faint num" dateTime={row.created_at} title={formatFullTime(row.created_at)}>
        {formatShortDate(row.created_at)} {formatTime(row.created_at)}
      </time>
      <span className="cut">{link(row, row.chat_title)}</span>
      <span className="cut muted" lang={detectLanguage(row.excerpt)}>
        {row.excerpt || outcome || t('noText')}
      </span>
      <span className="num faint">
        {row.seconds === null ? '' : t('secondsShort', { n: formatSeconds(row.seconds) })}
      </span>
      <span className="num faint">{row.cost_micro ? formatCurrency(row.cost_micro) : ''}</span>
    </li>
  )
}
