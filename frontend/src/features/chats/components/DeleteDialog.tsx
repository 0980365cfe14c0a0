import { Square } from 'lucide-react'
import type { RunRow } from '@/api'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { deleteNow } from '../deleting'
import type { DeletableRow } from '../deletions'
import { useChat } from './ChatContext'

interface DeleteDialogProps {
  row: DeletableRow
  /** The runs that have begun to answer the message. */
  runs: readonly RunRow[]
  onClose(): void
}

/** Asks what becomes of the answers to a message that is deleted. */
export function DeleteDialog({ row, runs, onClose }: DeleteDialogProps) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const names = [...new Set(runs.map(run => findActor(run.agent_id)?.name ?? t('agent')))]
  const remove = (stopRuns: boolean) => {
    onClose()
    void deleteNow(row, stopRuns)
  }
  return (
    <Dialog
      open
      onOpenChange={isOpen => isOpen || onClose()}
      title={t('edits.isAnswering', { count: names.length, names: formatList(names) })}
      description={t('edits.doesNotStop')}
    >
      <div className="row endrow">
        <Button tone="flat" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button onClick={() => remove(false)}>{t('edits.deleteOnly')}</Button>
        <Button tone="bad" onClick={() => remove(true)}>
          <Square className="i s" aria-hidden />
          {t('edits.deleteAndStop')}
        </Button>
      </div>
    </Dialog>
  )
}
