import { useTexts } from '@/lib/language'
import { findToolName, getFieldLabel } from '../fields'
import { ToolName } from './ToolName'

/** The name of a field of a spec, by its path. */
export function FieldName({ path }: { path: string }) {
  const { t } = useTexts()
  const tool = findToolName(path)
  return (
    <>
      {getFieldLabel(path, t)} {tool ? <ToolName tool={tool} /> : null}
    </>
  )
}
