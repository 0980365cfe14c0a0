import { type DiffRow, useFileNames } from '@/api'
import { useTexts } from '@/lib/language'
import { listPageIds, type ToolUse } from '../content'
import { describeField, findToolName } from '../fields'
import { FieldName } from './FieldName'

/** A changed field of a spec, as a term and its description: its name, and its value before and after. */
export function FieldDifference({ change: { field, before, after } }: { change: DiffRow['fields'][number] }) {
  const { t } = useTexts()
  const values = findToolName(field) ? [before, after] : []
  const findFileName = useFileNames(values.flatMap(value => listPageIds((value as ToolUse | null) ?? undefined)))
  return (
    <>
      <dt>
        <FieldName path={field} />
      </dt>
      <dd>
        <del>{describeField(field, before, t, findFileName)}</del> →{' '}
        <ins>{describeField(field, after, t, findFileName)}</ins>
      </dd>
    </>
  )
}
