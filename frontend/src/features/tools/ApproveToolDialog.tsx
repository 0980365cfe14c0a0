import { useState } from 'react'
import { type ToolDefinitionRow, type ToolEffect, useApproveTool, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SelectField } from '@/ui/Field'
import { ModelText } from './ModelTextView'
import { buildModelText } from './modelText'
import styles from './Tools.module.css'

interface ApproveToolDialogProps {
  tool: WorkspaceToolRow
  workspaceId: string
  mayChange: boolean
  /** A person has written its description in a form, not its server. */
  isWrittenHere?: boolean
  open: boolean
  onOpenChange(open: boolean): void
}

/** Shows what a model reads of a tool: beside the approved text, if the server has changed it. An editor switches the tool on. */
export function ApproveToolDialog({
  tool,
  workspaceId,
  mayChange,
  isWrittenHere = false,
  open,
  onOpenChange,
}: ApproveToolDialogProps) {
  const { t } = useTexts()
  // Not in the part below, which is removed when the tool is on: then its callbacks would not be called.
  const approve = useApproveTool(workspaceId)
  const isChanged = tool.off_reason === 'changed'
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={tool.name}
      description={t(isChanged ? 'mcp.changed.hint' : isWrittenHere ? 'tools.read.hint' : 'mcp.read.hint')}
      className={cx(dialogStyles.wide, styles.review)}
    >
      {isChanged && tool.pending ? (
        <div className={styles.sides}>
          <ModelText
            title={t('mcp.approvedText')}
            text={buildModelText(tool)}
            other={buildModelText(tool.pending)}
            sign="−"
          />
          <ModelText
            title={t('mcp.newText')}
            text={buildModelText(tool.pending)}
            other={buildModelText(tool)}
            sign="+"
          />
        </div>
      ) : (
        <ModelText title={t('mcp.modelReads')} text={buildModelText(tool.pending ?? tool)} />
      )}
      {mayChange && tool.pending ? (
        <Approval tool={tool} pending={tool.pending} approve={approve} onClose={() => onOpenChange(false)} />
      ) : null}
    </Dialog>
  )
}

interface ApprovalProps {
  tool: WorkspaceToolRow
  pending: ToolDefinitionRow
  approve: ReturnType<typeof useApproveTool>
  onClose(): void
}

function Approval({ tool, pending, approve, onClose }: ApprovalProps) {
  const { t } = useTexts()
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
