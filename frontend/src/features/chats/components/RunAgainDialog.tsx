import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { type BoardTaskRow, forkBoard, retryBoardTask } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatTime } from '@/lib/time'
import { upsertRows } from '@/realtime'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import {
  canRetry,
  compareDescriptions,
  listReused,
  MAX_DESCRIPTION,
  readParameters,
  toParameterFields,
} from '../boards'
import { useBoardContext } from './boardContext'
import { ParameterFields } from './ParameterFields'
import planStyles from './Plan.module.css'

interface RunAgainDialogProps {
  task: BoardTaskRow
  onClose(): void
}

/**
 * The form that does a task again, with another description or other parameters if they are changed: in its board while that
 * waits for nothing else than this task, otherwise on a new board, which reuses the results of the tasks that do not follow it.
 */
export function RunAgainDialog({ task, onClose }: RunAgainDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={t('board.runTaskAgain', { n: task.number, name: task.agent_name })}
    >
      <RunAgainForm task={task} onClose={onClose} />
    </Dialog>
  )
}

function RunAgainForm({ task, onClose }: RunAgainDialogProps) {
  const { t } = useTexts()
  const { board, tasks, blocked } = useBoardContext()
  const [id] = useState(newId)
  const [description, setDescription] = useState(task.description)
  const [parameters, setParameters] = useState(() => toParameterFields(task.parameters))
  const { busy, error, run } = useAsyncAction()
  const isRetry = canRetry(board, task, tasks)
  const isChanged = description.trim() !== task.description
  const reset = () => setDescription(task.description)
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    const values = readParameters(parameters)
    const body = {
      description: isChanged ? description.trim() : null,
      parameters: JSON.stringify(values) === JSON.stringify(task.parameters) ? null : values,
    }
    void run(async () => {
      const { number } = task
      const detail = isRetry
        ? await retryBoardTask(board.id, number, body)
        : await forkBoard(board.id, { id, number, ...body })
      upsertRows(board.chat_id, [detail.board, ...detail.tasks])
      onClose()
    })
  }
  const reused = listReused(tasks, task.number)
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <Field
        label={t('plan.description')}
        hint={isChanged ? <WhatItWas before={task.description} after={description.trim()} onReset={reset} /> : null}
      >
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            rows={3}
            maxLength={MAX_DESCRIPTION}
            value={description}
            onChange={event => setDescription(event.target.value)}
          />
        )}
      </Field>
      <ParameterFields
        label={t('plan.parametersOf', { n: task.number })}
        fields={parameters}
        onChange={setParameters}
      />
      <ErrorBanner error={error} />
      <p className="faint xs">
        {isRetry
          ? t('board.othersGoOn')
          : reused.length > 0
            ? t('board.newBoardReuses', { numbers: reused.join(', '), time: formatTime(board.created_at) })
            : t('board.newBoard')}
      </p>
      <div className={planStyles.actions}>
        <Button tone="flat" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          tone="ink"
          type="submit"
          busy={busy ? t('plan.starting') : null}
          blocked={(typeof blocked === 'string' && blocked) || description.trim() === ''}
        >
          <Play className="i s" aria-hidden />
          {t('board.runNow', { n: task.number })}
        </Button>
      </div>
    </form>
  )
}

/** What a description had before it was changed. */
function WhatItWas({ before, after, onReset }: { before: string; after: string; onReset(): void }) {
  const { t } = useTexts()
  return (
    <>
      {t('board.was')}{' '}
      {compareDescriptions(before, after).map(({ kind, text }, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
        kind === 'added' ? null : kind === 'removed' ? <del key={index}>{text}</del> : <span key={index}>{text}</span>,
      )}{' '}
      <button type="button" className="link" onClick={onReset}>
        {t('board.reset')}
      </button>
    </>
  )
}
