import { useEffect, useRef, useState } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { isOfSubAgent } from '../subAgents'
import { useChat } from './ChatContext'
import { useFormatLine } from './MessageParts'

/** Announces complete messages of others to a screen reader, except edited or deleted ones and those of sub-agents. */
export function Announcer({ messages }: { messages: readonly MessageRow[] }) {
  const { t } = useTexts()
  const { findActor, me } = useChat()
  const formatLine = useFormatLine()
  const last = messages.findLast(row => row.type === 'TEXT_MESSAGE' && !isOfSubAgent(row))
  const initialId = useRef(last?.id)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!last || last.id === initialId.current || last.author_id === me || last.edited_at || last.deleted_at) return
    setText(t('announce', { name: findActor(last.author_id)?.name ?? '', text: formatLine(last) }))
  }, [last, me, findActor, t, formatLine])
  return (
    <div className="sr" aria-live="polite">
      {text}
    </div>
  )
}
