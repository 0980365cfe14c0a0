import { Reply, X } from 'lucide-react'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'
import { useLineOf } from './MessageParts'

/** The message that is being answered, above the text. */
export function ReplyTarget({ id, onCancel }: { id: string; onCancel(): void }) {
  const { t } = useTexts()
  const { find, who } = useChat()
  const lineOf = useLineOf()
  const row = find(id)
  if (!row) return null
  return (
    <div className={composerStyles.replying}>
      <Reply className="i s" aria-hidden />
      <span className="cut">
        <b>{who(row.author_id)?.name}</b> {lineOf(row)}
      </span>
      <IconButton small label={t('cancelReply')} onClick={onCancel}>
        <X className="i s" />
      </IconButton>
    </div>
  )
}
