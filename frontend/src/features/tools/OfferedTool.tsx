import { useState } from 'react'
import type { OfferedToolRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { ModelText } from './ModelTextView'
import { buildModelText } from './modelText'
import { TestToolDialog } from './TestToolDialog'
import styles from './Tools.module.css'

interface OfferedToolProps {
  tool: OfferedToolRow
  workspaceId: string
  /** Whether the reader may test tools: as in the settings, only editors may. */
  mayTest: boolean
}

/** A tool in the workshop: a test, and what the model reads of it. A system tool is our own code and has no test. */
export function OfferedTool({ tool, workspaceId, mayTest }: OfferedToolProps) {
  const { t } = useTexts()
  const [isTesting, setTesting] = useState(false)
  const { id, name, description, effect, schema } = tool
  const reason = !mayTest ? t('tools.editorsTest') : !tool.is_available && t('tools.isOff')
  return (
    <div className={styles.offered}>
      {id === null ? null : (
        <>
          <Button size="xs" aria-haspopup="dialog" blocked={reason} onClick={() => setTesting(true)}>
            {t('tools.test')}
          </Button>
          <TestToolDialog
            tool={{ id, name, effect, input_schema: schema }}
            workspaceId={workspaceId}
            open={isTesting}
            onOpenChange={setTesting}
          />
        </>
      )}
      <details>
        <summary>{t('mcp.modelReads')}</summary>
        <ModelText text={buildModelText({ title: name, description, input_schema: schema })} />
      </details>
    </div>
  )
}
