import { memo } from 'react'
import { useTexts } from '@/lib/language'
import { useTypists } from '../hooks'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'
import messageStyles from './Message.module.css'

/** The names of those who are typing. Its height is fixed, so that the layout does not jump. */
export const TypingLine = memo(function TypingLine() {
  const { t } = useTexts()
  const { chatId, findActor } = useChat()
  const names = useTypists(chatId)
    .map(id => findActor(id)?.name ?? '')
    .filter(Boolean)
  return (
    <div className={composerStyles.typingline} aria-live="off">
      {names.length > 0 ? (
        <>
          <span className={messageStyles.typing} aria-hidden>
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
})
