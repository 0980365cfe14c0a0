import { CircleAlert } from 'lucide-react'
import { memo, type ReactNode, Suspense, useCallback, useState } from 'react'
import type { TextMessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { getCodeText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { useSelector } from '@/lib/observable'
import { formatFullTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import { lazy } from '@/ui/lazy'
import { Skeleton } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import { useIsDeletionPending } from '../deletions'
import { type OpenEdit, openEdit } from '../edits'
import { discard, sendAgain, type Unsent } from '../outbox'
import { useChat } from './ChatContext'
import { LazyProse } from './LazyProse'
import messageStyles from './Message.module.css'
import { MessageFrame } from './MessageFrame'
import { getTextId, MessageHeader, Quote } from './MessageParts'
import { Thumbs } from './Thumbs'
import { MessageFooter } from './VersionBadge'

const DeletedMessage = lazy(() => import('./DeletedMessage').then(module => ({ default: module.DeletedMessage })))
const EarlierTexts = lazy(() => import('./EarlierTexts').then(module => ({ default: module.EarlierTexts })))
const EditForm = lazy(() => import('./EditForm').then(module => ({ default: module.EditForm })))

interface TextMessageProps {
  row: TextMessageRow
  continuesAuthor: boolean
}

/** A text outside of replies: of a person or an outside program, a greeting, or what an agent sent from another chat. */
export const TextMessage = memo(function TextMessage({ row, continuesAuthor }: TextMessageProps) {
  const { findName } = useChat()
  const edit = useSelector(
    openEdit,
    useCallback((open: OpenEdit | null) => (open?.id === row.id ? open : null), [row.id]),
  )
  const isPending = useIsDeletionPending(row.id)
  const earlier = useEarlierTexts(row)
  if (row.payload.is_deleted || isPending)
    return (
      <Suspense fallback={null}>
        <DeletedMessage row={row} />
      </Suspense>
    )
  return (
    <MessageFrame
      row={row}
      continuesAuthor={continuesAuthor}
      mark={earlier.mark}
      footer={<TextFooter row={row} />}
      hasActions={edit === null}
    >
      {edit ? (
        <Suspense fallback={<Skeleton lines={2} label={row.payload.text} />}>
          <EditForm row={row} edit={edit} />
        </Suspense>
      ) : (
        <LazyProse text={row.payload.text} findName={findName} />
      )}
      {earlier.texts}
    </MessageFrame>
  )
})

/** The mark of an edited message, and the earlier texts that it opens. */
function useEarlierTexts(row: TextMessageRow): { mark: ReactNode; texts: ReactNode } {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (!row.edited_at) return { mark: null, texts: null }
  return {
    mark: (
      <button
        type="button"
        className={messageStyles.edited}
        title={formatFullTime(row.edited_at)}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {t('edited')}
      </button>
    ),
    texts: isOpen ? (
      <Suspense fallback={<Skeleton lines={2} label={t('loading')} />}>
        <EarlierTexts row={row} />
      </Suspense>
    ) : null,
  }
}

function TextFooter({ row }: { row: TextMessageRow }) {
  return (
    <>
      <MessageFooter row={row} />
      <Thumbs row={row} />
    </>
  )
}

/** A message that is being sent, or that could not be sent. Its text is kept. */
export const UnsentMessage = memo(function UnsentMessage({
  entry,
  continuesAuthor,
}: {
  entry: Unsent
  continuesAuthor: boolean
}) {
  const { findActor, findName, me } = useChat()
  const { t } = useTexts()
  const author = findActor(me)
  return (
    <article
      className={cx(
        messageStyles.msg,
        continuesAuthor && messageStyles.more,
        entry.failed ? messageStyles.failed : messageStyles.sending,
      )}
      data-message={entry.id}
      tabIndex={-1}
      aria-label={`${author?.name ?? ''}, ${entry.failed ? t('notSent', { why: getCodeText(entry.failed) }) : t('sending')}`}
      aria-describedby={getTextId(entry.id)}
    >
      {continuesAuthor ? (
        <time aria-hidden />
      ) : (
        <Avatar id={me} name={author?.name ?? ''} avatar={author?.avatar} square={false} size="l" />
      )}
      <div className={messageStyles.c}>
        {continuesAuthor ? null : <MessageHeader actor={author} name={author?.name ?? ''} at={entry.created_at} />}
        {entry.reply_to ? <Quote id={entry.reply_to} /> : null}
        <div id={getTextId(entry.id)}>
          {entry.files?.map(file => (
            <p key={file.id} className="faint">
              {file.name}
            </p>
          ))}
          <LazyProse text={entry.text} findName={findName} />
        </div>
        <div className={messageStyles.foot}>
          {entry.failed ? (
            <>
              <span className="no" role="alert">
                <CircleAlert className="i s" aria-hidden />
                {t('notSent', { why: getCodeText(entry.failed) })}
              </span>
              {entry.failed === 'not_signed_in' ? (
                <a
                  className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.xs)}
                  href={`/sign-in?next=${encodeURIComponent(location.pathname)}`}
                >
                  {t('signIn')}
                </a>
              ) : (
                <Button size="xs" onClick={() => void sendAgain(entry.id)}>
                  {t('tryAgain')}
                </Button>
              )}
              <Button size="xs" tone="flat" onClick={() => discard(entry.id)}>
                {t('remove')}
              </Button>
            </>
          ) : (
            <span className={messageStyles.late}>
              <Spinner /> {t('sending')}
            </span>
          )}
        </div>
      </div>
    </article>
  )
})
