import type { ReactNode } from 'react'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import { Dialog } from './Dialog'

interface ConfirmDialogProps {
  open: boolean
  onOpenChange(open: boolean): void
  title: string
  /** The effects of the action. */
  description: string
  /** The label of the button that confirms. */
  action: string
  /** The running action, shown in place of the label. */
  busy?: string | null
  onConfirm(): void
  children?: ReactNode
}

/** A dialog that asks before an action that takes something away. The caller closes it when the action is done. */
export function ConfirmDialog({ action, busy, onConfirm, children, ...dialog }: ConfirmDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog {...dialog}>
      {children}
      <div className="row endrow">
        <Button onClick={() => dialog.onOpenChange(false)}>{t('cancel')}</Button>
        <Button tone="bad" busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
