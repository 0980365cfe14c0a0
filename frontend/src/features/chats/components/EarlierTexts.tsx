import { Suspense } from 'react'
import { type MessageRevisionRow, type TextMessageRow, useRevisions } from '@/api'
import { LineDiff } from '@/features/agents'
import { useTexts } from '@/lib/language'
import { formatDateTime } from '@/lib/time'
import { Loading } from '@/ui/Loading'
import { replaceHandlesByNames } from '@/ui/prose/mentions'
import { Skeleton } from '@/ui/Skeleton'
import { useChat } from './ChatContext'
import styles from './Edits.module.css'

/** The earlier texts of a message: what each edit has changed, the last one first; of a deleted message also its last text. */
export function EarlierTexts({ row }: { row: TextMessageRow }) {
  const { t } = useTexts()
  const revisions = useRevisions(row.id, row.deleted_at ?? row.edited_at ?? '')
  if (!revisions.data) return <Loading query={revisions} lines={2} />
  const count = revisions.data.length - (row.payload.is_deleted ? 1 : 0)
  return (
    <section className={styles.earlier} aria-label={t('edits.earlier')}>
      <div className={styles.head}>
        <b>{t('edits.earlier')}</b>
        {count > 0 ? <span className="faint xs">{t('edits.times', { count })}</span> : null}
      </div>
      {revisions.data.map((revision, index) => (
        <Revision key={revision.id} revision={revision} replacedBy={revisions.data[index - 1]?.text ?? getText(row)} />
      ))}
    </section>
  )
}

const getText = ({ payload }: TextMessageRow) => (payload.is_deleted ? null : payload.text)

/** `replacedBy`: the text after it; null if the message was deleted. */
function Revision({ revision, replacedBy }: { revision: MessageRevisionRow; replacedBy: string | null }) {
  const { t } = useTexts()
  const { findActor, findName } = useChat()
  const name = findActor(revision.replaced_by)?.name ?? t('unknownPerson')
  const before = replaceHandlesByNames(revision.text, findName)
  return (
    <div className={styles.revision}>
      <p className="faint xs">{`${formatDateTime(revision.replaced_at)}, ${name}`}</p>
      {replacedBy === null ? (
        <p className={styles.plain}>{before}</p>
      ) : (
        <Suspense fallback={<Skeleton lines={2} label={t('loading')} />}>
          <LineDiff label={t('edits.change')} before={before} after={replaceHandlesByNames(replacedBy, findName)} />
        </Suspense>
      )}
    </div>
  )
}
