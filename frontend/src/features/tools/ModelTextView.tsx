import styles from './Tools.module.css'

interface ModelTextProps {
  title?: string
  text: string
}

/** What a model reads of a tool, as plain text. */
export function ModelText({ title, text }: ModelTextProps) {
  return (
    <div className={styles.side}>
      {title ? <h3 className="xs muted">{title}</h3> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className={styles.text} lang="en" tabIndex={0}>
        <span>{text}</span>
      </pre>
    </div>
  )
}
