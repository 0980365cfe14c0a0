import { Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { TextMessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useChat } from './ChatContext'
import { EarlierTexts } from './EarlierTexts'
import { getTextId, Time } from './MessageParts'
import { getFocusAttributes } from './System'
import systemStyles from './System.module.css'

/** The line that is left of a deleted message. Editors may read its text. */
export function DeletedMessage({ row }: { row: TextMessageRow }) {
  const line = useRef<HTMLDivElement>(null)
  const isPending = !row.payload.is_deleted
  useEffect(() => {
    // The message that was deleted had the focus.
    if (isPending && document.activeElement === document.body) line.current?.focus({ preventScroll: true })
  }, [isPending])
  return (
    <div ref={line} className={systemStyles.sys} data-message={row.id} {...getFocusAttributes(row.id)}>
      <Trash2 className="i" aria-hidden />
      <DeletedLine row={row} />
    </div>
  )
}

/** Says who has deleted a message, or is about to. */
export function DeletedLine({ row }: { row: TextMessageRow }) {
  const { rich, t } = useTexts()
  const { me, isEditor, findActor } = useChat()
  const [isOpen, setOpen] = useState(false)
  const by = row.payload.deleted_by ?? me
  const getName = (id: string | null) => findActor(id)?.name ?? t('unknownPerson')
  const values = { actor: getName(by), target: getName(row.author_id) }
  return (
    <div>
      <span id={getTextId(row.id)}>
        {rich(by === row.author_id ? 'edits.deletedOwn' : 'edits.deletedOther', values)}
      </span>{' '}
      {isEditor && row.payload.is_deleted ? (
        <button type="button" className={systemStyles.open} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('edits.show')}
        </button>
      ) : null}
      <Time at={row.deleted_at ?? row.created_at} />
      {isOpen ? <EarlierTexts row={row} /> : null}
    </div>
  )
}
