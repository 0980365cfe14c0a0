import { Fragment, type ReactNode, useState } from 'react'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import blocks from './blocks.module.css'

interface RowFormProps<Row> {
  row: Row
  revision: number
  /** Renders the form with the values of `row`. It calls `onSaved` after each change that it has saved. */
  children(row: Row, onSaved: () => void): ReactNode
}

/**
 * Builds a form anew when its row is changed. A form with unsaved input keeps it, and the row that the form was built from,
 * so the server refuses to save it over the change (`stale_revision`). A notice then offers to show the new row.
 */
export function RowForm<Row>({ row, revision, children }: RowFormProps<Row>) {
  const { t } = useTexts()
  const [kept, setKept] = useState<{ row: Row; revision: number } | null>(null)
  const shown = kept ?? { row, revision }
  const keep = () => setKept(shown)
  return (
    // Submitting counts, too: the form must be there when the response comes.
    <div onChange={keep} onSubmit={keep}>
      <Fragment key={shown.revision}>{children(shown.row, () => setKept(null))}</Fragment>
      {shown.revision !== revision && (
        <div className={blocks.banner} role="status">
          <span className="grow">{t('form.changedElsewhere')}</span>
          <Button size="xs" onClick={() => setKept(null)}>
            {t('form.showNew')}
          </Button>
        </div>
      )}
    </div>
  )
}
