import type { ReactNode } from 'react'
import type { HttpResponse, McpResult } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import styles from './ToolCallPart.module.css'

/** The answer of a workspace tool's server, as plain text: its source, then its body. */
export function ServerAnswer({ answer }: { answer: HttpResponse | McpResult }) {
  const { t } = useTexts()
  return (
    <div className={cx(styles.b, styles.res, styles.page)}>
      <p className={styles.source}>
        <span>{answer.server}</span> <Source answer={answer} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={cx(styles.read, 'mono')} tabIndex={0}>
        {answer.text}
      </div>
      {answer.is_cut ? <p className="muted">{t('responseCut')}</p> : null}
    </div>
  )
}

function Source({ answer }: { answer: HttpResponse | McpResult }): ReactNode {
  if (answer.kind === 'mcp_result') return <span className="mono">{answer.tool}</span>
  return (
    <>
      <span className="mono">{`${answer.method} ${answer.path}`}</span> <span>{`HTTP ${answer.status}`}</span>
    </>
  )
}
