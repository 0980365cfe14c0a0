import { Reply, X } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'
import { useFormatLine } from './MessageParts'

/** The message to which the composer replies. */
export function ReplyTarget({ id, onCancel }: { id: string; onCancel(): void }) {
  const { t } = useTexts()
  const { findMessage, findActor } = useChat()
  const formatLine = useFormatLine()
  const row = findMessage(id)
  if (!row) return null
  return (
    <div className={composerStyles.replying}>
      <Reply className="i s" aria-hidden />
      <span className="cut">
        <b>{findActor(row.author_id)?.name}</b> {formatLine(row)}
      </span>
      <IconButton small label={t('cancelReply')} onClick={onCancel}>
        <X className="i s" />
      </IconButton>
    </div>
  )
}
