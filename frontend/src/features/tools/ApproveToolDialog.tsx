import { useState } from 'react'
import { type ToolDefinitionRow, type ToolEffect, useApproveTool, type WorkspaceToolRow } from '@/api'
import { LineDiff } from '@/features/agents'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SelectField } from '@/ui/Field'
import { ModelText } from './ModelTextView'
import { buildModelText, listDefinitionChanges } from './modelText'
import styles from './Tools.module.css'

interface ApproveToolDialogProps {
  tool: WorkspaceToolRow
  workspaceId: string
  mayChange: boolean
  /** Whether an editor has written the description in a form. Otherwise it comes from the server of the tool. */
  isWrittenHere?: boolean
  open: boolean
  onOpenChange(open: boolean): void
}

/** Shows what a model reads of a tool, or what its server has changed in it. An editor approves it and switches the tool on. */
export function ApproveToolDialog({
  tool,
  workspaceId,
  mayChange,
  isWrittenHere = false,
  open,
  onOpenChange,
}: ApproveToolDialogProps) {
  const { t } = useTexts()
  const isChanged = tool.off_reason === 'changed'
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={tool.name}
      description={t(isChanged ? 'mcp.changed.hint' : isWrittenHere ? 'tools.read.hint' : 'mcp.read.hint')}
      className={cx(dialogStyles.wide, styles.review)}
    >
      <Review tool={tool} workspaceId={workspaceId} mayChange={mayChange} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

interface ReviewProps extends Pick<ApproveToolDialogProps, 'tool' | 'workspaceId' | 'mayChange'> {
  onClose(): void
}

function Review({ tool, workspaceId, mayChange, onClose }: ReviewProps) {
  const { t } = useTexts()
  // Not in `Approval`: it is unmounted as soon as the tool is approved, and then its callbacks would not be called.
  const approve = useApproveTool(workspaceId)
  return (
    <>
      {tool.off_reason === 'changed' && tool.pending ? (
        <DefinitionChanges before={tool} after={tool.pending} />
      ) : (
        <ModelText title={t('mcp.modelReads')} text={buildModelText(tool.pending ?? tool)} />
      )}
      {mayChange && tool.pending ? (
        <Approval tool={tool} pending={tool.pending} approve={approve} onClose={onClose} />
      ) : null}
    </>
  )
}

interface DefinitionChangesProps {
  before: WorkspaceToolRow
  after: ToolDefinitionRow
}

/** The parts of a definition that its server has changed since it was approved. */
function DefinitionChanges({ before, after }: DefinitionChangesProps) {
  const { t } = useTexts()
  const changes = listDefinitionChanges(before, after)
  if (changes.length === 0) return <p className={styles.agents}>{t('mcp.changed.invisible')}</p>
  return changes.map(change => (
    <div key={change.part} className={styles.side}>
      <h3 className="xs muted">{t(`mcp.part.${change.part}`)}</h3>
      <LineDiff label={t(`mcp.part.${change.part}`)} before={change.before} after={change.after} />
    </div>
  ))
}

interface ApprovalProps {
  tool: WorkspaceToolRow
  pending: ToolDefinitionRow
  approve: ReturnType<typeof useApproveTool>
  onClose(): void
}

function Approval({ tool, pending, approve, onClose }: ApprovalProps) {
  const { t } = useTexts()
  // Without a hash, nobody has approved the tool yet.
  const [effect, setEffect] = useState<ToolEffect>(tool.hash === '' ? pending.effect : tool.effect)
  return (
    <>
      <SelectField<ToolEffect>
        label={t('mcp.effect')}
        hint={t('mcp.effect.hint')}
        value={effect}
        options={(['read', 'write'] as const).map(value => ({ value, label: t(`mcp.effect.${value}`) }))}
        onChange={setEffect}
      />
      <ErrorBanner error={approve.error} />
      <div className="row endrow">
        <Button onClick={onClose}>{t('mcp.keepOff')}</Button>
        <Button
          tone="ink"
          busy={approve.isPending ? t('mcp.approving') : null}
          onClick={() => approve.mutate({ id: tool.id, hash: pending.hash, effect }, { onSuccess: onClose })}
        >
          {t(tool.off_reason === 'changed' ? 'mcp.approveNew' : 'mcp.approve')}
        </Button>
      </div>
    </>
  )
}
