import { cx } from '@/lib/cx'
import { markChangedLines } from './modelText'
import styles from './Tools.module.css'

interface ModelTextProps {
  title?: string
  text: string
  /** The text on the other side, if there is one: lines that it lacks are marked with the sign. */
  other?: string
  sign?: '+' | '−'
}

/** What a model reads of a tool, as plain text. */
export function ModelText({ title, text, other, sign }: ModelTextProps) {
  return (
    <div className={styles.side}>
      {title ? <h3 className="xs muted">{title}</h3> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.text} lang="en" tabIndex={0}>
        {markChangedLines(text, other).map(line => (
          <span key={line.at} className={cx(line.isChanged && (sign === '+' ? styles.added : styles.removed))}>
            {line.isChanged ? <span className="sr">{sign}</span> : null}
            {line.text}
            {'\n'}
          </span>
        ))}
      </pre>
    </div>
  )
}
