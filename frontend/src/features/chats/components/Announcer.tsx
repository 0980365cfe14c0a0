import { useEffect, useRef, useState } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useChat } from './ChatContext'
import { useLineOf } from './MessageParts'

/** Speaks whole messages of others to a screen reader, never single tokens. */
export function Announcer({ messages }: { messages: readonly MessageRow[] }) {
  const { t } = useTexts()
  const { who, me } = useChat()
  const lineOf = useLineOf()
  const last = messages.findLast(row => row.type === 'TEXT_MESSAGE')
  const first = useRef(last?.id)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!last || last.id === first.current || last.author_id === me) return
    setText(t('announce', { name: who(last.author_id)?.name ?? '', text: lineOf(last) }))
  }, [last, me, who, t, lineOf])
  return (
    <div className="sr" aria-live="polite">
      {text}
    </div>
  )
}
