import { CircleAlert } from 'lucide-react'
import { memo } from 'react'
import type { MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { errorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { clock } from '@/lib/time'
import { Busy } from '@/ui/Busy'
import { Button } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { forget, sendAgain, type Unsent } from '../outbox'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import { Actions, Quote, textOf, Who } from './MessageParts'
import { Stamped } from './Stamped'

interface SaidProps {
  row: MessageRow
  more: boolean
}

/** One message by a person, or an agent's greeting. */
export const Said = memo(function Said({ row, more }: SaidProps) {
  const { who, names } = useChat()
  const { t } = useTexts()
  const author = who(row.author_id)
  const name = author?.name ?? t('somebody')
  const isAgent = author?.kind === 'agent'
  return (
    <article
      className={cx('msg', more && 'more')}
      data-message={row.id}
      tabIndex={-1}
      aria-label={`${name}, ${clock(row.created_at)}`}
    >
      {more ? (
        <time aria-hidden>{clock(row.created_at)}</time>
      ) : (
        <Face id={row.author_id ?? ''} name={name} square={isAgent} size="l" />
      )}
      <div className="c">
        {more ? null : <Who actor={author} name={name} at={row.created_at} />}
        {row.reply_to ? <Quote id={row.reply_to} /> : null}
        {row.deleted ? <p className="faint">{t('deleted')}</p> : <LazyProse text={textOf(row)} names={names} />}
        <Stamped row={row} />
      </div>
      <Actions row={row} />
    </article>
  )
})

/** A message on its way, or one that did not get there: its text is kept. */
export const UnsentMessage = memo(function UnsentMessage({ entry, more }: { entry: Unsent; more: boolean }) {
  const { who, names, me } = useChat()
  const { t } = useTexts()
  const author = who(me)
  return (
    <article
      className={cx('msg', more && 'more', entry.failed ? 'failed' : 'sending')}
      data-message={entry.id}
      tabIndex={-1}
    >
      {more ? <time aria-hidden /> : <Face id={me} name={author?.name ?? ''} square={false} size="l" />}
      <div className="c">
        {more ? null : <Who actor={author} name={author?.name ?? ''} at={entry.created_at} />}
        {entry.reply_to ? <Quote id={entry.reply_to} /> : null}
        <LazyProse text={entry.text} names={names} />
        <div className="foot">
          {entry.failed ? (
            <>
              <span className="no" role="alert">
                <CircleAlert className="i s" aria-hidden />
                {t('notSent', { why: errorText(entry.failed) })}
              </span>
              <Button size="xs" onClick={() => void sendAgain(entry.id)}>
                {t('tryAgain')}
              </Button>
              <Button size="xs" tone="flat" onClick={() => forget(entry.id)}>
                {t('remove')}
              </Button>
            </>
          ) : (
            <span className="late">
              <Busy /> {t('sending')}
            </span>
          )}
        </div>
      </div>
    </article>
  )
})
