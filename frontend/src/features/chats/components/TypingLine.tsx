import { useTexts } from '@/lib/language'
import { useTypists } from '../hooks'
import { useChat } from './ChatContext'

/** Who is typing, on a line of its own height, so that nothing jumps. */
export function TypingLine() {
  const { t } = useTexts()
  const { chatId, who } = useChat()
  const names = useTypists(chatId)
    .map(id => who(id)?.name ?? '')
    .filter(Boolean)
  return (
    <div className="typingline" aria-live="off">
      {names.length > 0 ? (
        <>
          <span className="typing" aria-hidden>
            <i />
            <i />
            <i />
          </span>
          {names.length > 2
            ? t('typingMany', { count: names.length })
            : t('typingNames', { count: names.length, names: names.join(t('listJoin')) })}
        </>
      ) : null}
    </div>
  )
}
