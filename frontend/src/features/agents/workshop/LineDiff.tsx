import { useTexts } from '@/lib/language'
import { ChangedText } from './ChangedText'
import styles from './LineDiff.module.css'
import { buildSideRows, type SideLine, type SideRow } from './sideRows'
import { type DiffPart, diffWords } from './wordDiff'

interface LineDiffProps {
  /** What the two texts are, for screen readers. */
  label: string
  before: string
  after: string
}

/** The changed lines of two short texts below each other, with the changed words marked. */
export function LineDiff({ label, before, after }: LineDiffProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <ol className={styles.lines} aria-label={label} tabIndex={0}>
      {buildSideRows(before, after, true).map(row => (
        <Row
          key={row.kind === 'folded' ? `fold ${row.from}` : `${row.before?.number} ${row.after?.number}`}
          row={row}
        />
      ))}
    </ol>
  )
}

function Row({ row }: { row: SideRow }) {
  const { t } = useTexts()
  if (row.kind === 'folded')
    return <li className={styles.folded}>{t('unchangedLines').replace('$', String(row.count))}</li>
  const { before, after, kind } = row
  if (kind === 'same') return <Line sign="" line={after} />
  const parts = before && after ? diffWords(before.text, after.text) : null
  return (
    <>
      {before ? <Line sign="−" line={before} parts={parts?.before} /> : null}
      {after ? <Line sign="+" line={after} parts={parts?.after} /> : null}
    </>
  )
}

interface LineProps {
  sign: '+' | '−' | ''
  line: SideLine | null
  parts?: readonly DiffPart[] | undefined
}

function Line({ sign, line, parts }: LineProps) {
  const Kind = sign === '+' ? 'ins' : 'del'
  return (
    <li data-sign={sign}>
      <span>{sign}</span>
      <span>{parts ? <ChangedText kind={Kind} parts={parts} /> : line?.text}</span>
    </li>
  )
}
