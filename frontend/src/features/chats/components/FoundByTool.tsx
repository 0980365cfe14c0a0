import type { FoundMessagesData, FoundToolsData, SearchResultsData } from '@/api'
import { cx } from '@/lib/cx'
import { showHiddenCharacters } from '@/lib/hiddenCharacters'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatShortDate } from '@/lib/time'
import { PathLink } from '@/ui/PathLink'
import { Link } from '@/ui/prose/parts'
import { getHost } from '@/ui/prose/urls'
import { useChat } from './ChatContext'
import styles from './ToolCallPart.module.css'

/** The pages that an agent has found on the web: title, site and excerpt of each, as plain text. */
export function FoundWebPages({ data: { results } }: { data: SearchResultsData }) {
  const { t } = useTexts()
  if (results.length === 0) return <p className={cx(styles.b, styles.res, 'muted')}>{t('searchNothing')}</p>
  return (
    <ol className={cx(styles.b, styles.res, styles.hits)}>
      {results.map(({ title, url, text, published }) => (
        <li key={url}>
          <Link href={url} text={title}>
            {title}
          </Link>{' '}
          <span className={styles.host}>{getHost(url)}</span>
          {published ? <span className="faint xs"> · {published}</span> : null}
          {text ? <p className="muted">{text}</p> : null}
        </li>
      ))}
    </ol>
  )
}

/** The messages that an agent has found: author, chat, day and excerpt of each, with a link to the message. */
export function FoundMessages({ data: { messages } }: { data: FoundMessagesData }) {
  const { t } = useTexts()
  const { messagePath, onGo } = useChat()
  if (messages.length === 0) return <p className={cx(styles.b, styles.res, 'muted')}>{t('searchNothing')}</p>
  return (
    <ol className={cx(styles.b, styles.res, styles.hits)}>
      {messages.map(({ message_id, chat_id, chat_title, author, text, created_at }) => (
        <li key={message_id}>
          <PathLink path={messagePath(chat_id, message_id)} onGo={onGo}>
            {author}
          </PathLink>{' '}
          {chat_title ? <span className={styles.host}>{chat_title} · </span> : null}
          <time className="faint xs" dateTime={created_at} title={formatFullTime(created_at)}>
            {formatShortDate(created_at)}
          </time>
          <p className="muted">{text}</p>
        </li>
      ))}
    </ol>
  )
}

/** The tools that an agent has found among its own: the name and the server of each. */
export function FoundTools({ data: { tools } }: { data: FoundToolsData }) {
  const { t } = useTexts()
  if (tools.length === 0) return <p className={cx(styles.b, styles.res, 'muted')}>{t('searchNothing')}</p>
  return (
    <ol className={cx(styles.b, styles.res, styles.hits)}>
      {tools.map(({ name, server }) => (
        <li key={name}>
          <code>{showHiddenCharacters(name)}</code> <span className={styles.host}>{showHiddenCharacters(server)}</span>
        </li>
      ))}
    </ol>
  )
}
