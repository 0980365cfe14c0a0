/** The outcome of a run that failed or was stopped: its reason, whom to ask, and a retry. It is loaded on first use. */
import { CircleAlert, CircleStop, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useMembers } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { getRunErrorKey, isModelError } from '@/lib/runErrors'
import { Button } from '@/ui/Button'
import { PathLink } from '@/ui/PathLink'
import { showToast } from '@/ui/toast'
import type { RunEnd } from '../reply'
import type { FailedOrStoppedStatus } from '../runStatus'
import { useChat } from './ChatContext'

/** The reason of a failure, with a link to the model settings or the names of editors to ask. */
export function FailureReason({ code, payerName }: Pick<RunEnd, 'code' | 'payerName'>) {
  const { t, rich } = useTexts()
  const { modelPath, onGo } = useChat()
  const text = rich(
    getRunErrorKey(code),
    { settings: t('settingsModel'), name: payerName || t('unknownPerson') },
    (value, name) =>
      modelPath && name === 'settings' ? (
        <PathLink path={modelPath} onGo={onGo}>
          {value}
        </PathLink>
      ) : (
        value
      ),
  )
  return (
    <span>
      {text}
      {isModelError(code) && !modelPath ? <EditorsToAsk /> : null}
    </span>
  )
}

const MAX_EDITORS = 3

/** Returns the names of some editors of the workspace. */
export function useEditorNames(): string {
  const { workspaceId } = useChat()
  const members = useMembers(workspaceId).data ?? []
  const editors = members.filter(member => member.role === 'editor').slice(0, MAX_EDITORS)
  return formatList(editors.map(member => member.actor.name))
}

function EditorsToAsk() {
  const { t } = useTexts()
  const names = useEditorNames()
  return names ? ` ${t('run.askEditors', { names })}` : null
}

/** Returns a function that retries a run, and whether it is being retried. */
export function useRetry(status: FailedOrStoppedStatus) {
  const [isRetrying, setRetrying] = useState(false)
  const retry = async () => {
    setRetrying(true)
    try {
      await status.retry()
    } catch (error) {
      showToast(getErrorText(error))
    }
    setRetrying(false)
  }
  return { isRetrying, retry: () => void retry() }
}

/** The outcome of a run, and a retry. A run that a budget has ended has a `BudgetStop` instead. */
export function RunOutcome({ status, canRetry }: { status: FailedOrStoppedStatus; canRetry: boolean }) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const { isRetrying, retry } = useRetry(status)
  const { runEnd } = status
  if (runEnd.budget) return null
  const by = findActor(runEnd.by)?.name
  const Icon = runEnd.kind === 'failed' ? CircleAlert : CircleStop
  return (
    <>
      <span className={runEnd.kind === 'failed' ? 'no' : 'row faint'}>
        <Icon className="i s" aria-hidden />
        {runEnd.kind === 'failed' ? (
          <FailureReason code={runEnd.code} payerName={runEnd.payerName} />
        ) : by ? (
          t('stoppedBy', { name: by })
        ) : (
          t('stopped')
        )}
      </span>
      {canRetry ? (
        <Button size="xs" onClick={retry} busy={isRetrying ? t('retry') : null}>
          <RotateCcw className="i s" aria-hidden />
          {t('retry')}
        </Button>
      ) : null}
    </>
  )
}
