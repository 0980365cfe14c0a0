import { useTexts } from '@/lib/language'
import versionsStyles from '../versions/Versions.module.css'
import { ChangedText } from './ChangedText'
import { buildSideRows, type SideLine, type SideRow } from './sideRows'
import { type DiffPart, diffWords } from './wordDiff'

interface SideBySideProps {
  before: string
  after: string
  isFolded: boolean
}

/** The diff of two texts in two columns. */
export function SideBySide({ before, after, isFolded }: SideBySideProps) {
  const { t } = useTexts()
  const rows = buildSideRows(before, after, isFolded)
  return (
    <table className={versionsStyles.sides}>
      <caption className="sr">{t('diff')}</caption>
      <colgroup>
        <col className={versionsStyles.n} />
        <col />
        <col className={versionsStyles.n} />
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
          <DiffRow key={getRowKey(row)} row={row} />
        ))}
      </tbody>
    </table>
  )
}

const getRowKey = (row: SideRow) =>
  row.kind === 'folded' ? `fold ${row.from}` : `${row.before?.number ?? ''} ${row.after?.number ?? ''}`

function DiffRow({ row }: { row: SideRow }) {
  const { t } = useTexts()
  if (row.kind === 'folded')
    return (
      <tr className={versionsStyles.folded}>
        <td colSpan={4}>{t('unchangedLines').replace('$', String(row.count))}</td>
      </tr>
    )
  const { before, after, kind } = row
  const parts = kind === 'changed' && before && after ? diffWords(before.text, after.text) : null
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
  if (!line) return <td className={versionsStyles.nothing} colSpan={2} />
  return (
    <>
      <td className={versionsStyles.n}>{line.number}</td>
      <td className={isChanged ? versionsStyles[kind] : undefined}>
        {parts ? <ChangedText kind={kind} parts={parts} /> : line.text}
      </td>
    </>
  )
}
