import type { HttpResponse } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import styles from './ToolCallPart.module.css'

/** The answer of a workspace tool's server, as plain text: its source, then its body. */
export function HttpResponseResult({ response }: { response: HttpResponse }) {
  const { t } = useTexts()
  return (
    <div className={cx(styles.b, styles.res, styles.page)}>
      <p className={styles.source}>
        <span>{response.server}</span> <span className="mono">{`${response.method} ${response.path}`}</span>{' '}
        <span>{`HTTP ${response.status}`}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={cx(styles.read, 'mono')} tabIndex={0}>
        {response.text}
      </div>
      {response.is_cut ? <p className="muted">{t('responseCut')}</p> : null}
    </div>
  )
}
