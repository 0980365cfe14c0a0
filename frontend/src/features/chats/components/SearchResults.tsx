import type { SearchResultsData } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { getHost } from '@/ui/prose/addresses'
import { Link } from '@/ui/prose/parts'
import styles from './ToolCallPart.module.css'

/** The pages that an agent has found on the web: title, site and excerpt of each, as plain text. */
export function SearchResults({ data: { results } }: { data: SearchResultsData }) {
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
