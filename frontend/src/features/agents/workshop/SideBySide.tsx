import { useTexts } from '@/lib/language'
import historyStyles from '../history/History.module.css'
import { ChangedText } from './ChangedText'
import { rowsOf, type SideLine, type SideRow } from './sideRows'
import { type DiffPart, wordParts } from './wordDiff'

interface SideBySideProps {
  before: string
  after: string
  isFolded: boolean
}

/** Two texts in two columns: what was changed stands beside what it was changed into. */
export function SideBySide({ before, after, isFolded }: SideBySideProps) {
  const { t } = useTexts()
  const rows = rowsOf(before, after, isFolded)
  return (
    <table className={historyStyles.sides}>
      <caption className="sr">{t('diff')}</caption>
      <colgroup>
        <col className={historyStyles.n} />
        <col />
        <col className={historyStyles.n} />
        <col />
      </colgroup>
      <thead className="sr">
        <tr>
          <th scope="col" colSpan={2}>
            {t('diffBefore')}
          </th>
          <th scope="col" colSpan={2}>
            {t('diffAfter')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={keyOf(row)} row={row} />
        ))}
      </tbody>
    </table>
  )
}

const keyOf = (row: SideRow) =>
  row.kind === 'folded' ? `fold ${row.from}` : `${row.before?.number ?? ''} ${row.after?.number ?? ''}`

function Row({ row }: { row: SideRow }) {
  const { t } = useTexts()
  if (row.kind === 'folded')
    return (
      <tr className={historyStyles.folded}>
        <td colSpan={4}>{t('unchangedLines').replace('$', String(row.count))}</td>
      </tr>
    )
  const { before, after, kind } = row
  const parts = kind === 'changed' && before && after ? wordParts(before.text, after.text) : null
  return (
    <tr>
      <Side line={before} parts={parts?.before ?? null} kind="del" isChanged={kind === 'changed'} />
      <Side line={after} parts={parts?.after ?? null} kind="ins" isChanged={kind === 'changed'} />
    </tr>
  )
}

interface SideProps {
  line: SideLine | null
  parts: readonly DiffPart[] | null
  kind: 'ins' | 'del'
  isChanged: boolean
}

function Side({ line, parts, kind, isChanged }: SideProps) {
  if (!line) return <td className={historyStyles.nothing} colSpan={2} />
  return (
    <>
      <td className={historyStyles.n}>{line.number}</td>
      <td className={isChanged ? historyStyles[kind] : undefined}>
        {parts ? <ChangedText kind={kind} parts={parts} /> : line.text}
      </td>
    </>
  )
}
