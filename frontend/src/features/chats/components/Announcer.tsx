import { useEffect, useRef, useState } from 'react'
import type { MessageRow } from '@/api'
import { useTexts } from '@/lib/language'
import { useChat } from './ChatContext'
import { textOf } from './MessageParts'

/** Speaks whole messages of others to a screen reader, never single tokens. */
export function Announcer({ messages }: { messages: readonly MessageRow[] }) {
  const { t } = useTexts()
  const { who, me } = useChat()
  const last = messages.findLast(row => row.type === 'TEXT_MESSAGE')
  const first = useRef(last?.id)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!last || last.id === first.current || last.author_id === me) return
    setText(t('announce', { name: who(last.author_id)?.name ?? '', text: textOf(last).slice(0, 400) }))
  }, [last, me, who, t])
  return (
    <div className="sr" aria-live="polite">
      {text}
    </div>
  )
}
