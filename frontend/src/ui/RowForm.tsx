import { Fragment, type ReactNode, useState } from 'react'

interface RowFormProps<Row> {
  row: Row
  revision: number
  /** Renders the form with the values of `row`. It calls `onSaved` after each change that it has saved. */
  children(row: Row, onSaved: () => void): ReactNode
}

/**
 * Builds a form anew when its row is changed, unless the form has unsaved input. Then it keeps the input and the row that
 * it was built from, so the server refuses to save it over the change (`stale_revision`).
 */
export function RowForm<Row>({ row, revision, children }: RowFormProps<Row>) {
  const [kept, setKept] = useState<{ row: Row; revision: number } | null>(null)
  const shown = kept ?? { row, revision }
  const keep = () => setKept(shown)
  return (
    // Submitting counts, too: the form must be there when the response comes.
    <div onChange={keep} onSubmit={keep}>
      <Fragment key={shown.revision}>{children(shown.row, () => setKept(null))}</Fragment>
    </div>
  )
}
