/** Equal calls that wait in several tasks of a board, to be decided together. */
import { Check, ListChecks } from 'lucide-react'
import { useState } from 'react'
import { type Decision, useApprovals, useDecideEqualCalls } from '@/api'
import { ToolName } from '@/features/agents'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { showHiddenCharacters } from '@/lib/hiddenCharacters'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { isAgentTool } from '@/lib/toolNames'
import { Button } from '@/ui/Button'
import { showToast } from '@/ui/toast'
import { groupEqualCalls, type WaitingCall } from '../boards'
import { buildReply } from '../reply'
import type { SubAgent } from '../subAgents'
import { RefuseForm, Values, Why } from './ApprovalCard'
import styles from './ApprovalCard.module.css'
import { WhoDecides } from './ApprovalParts'
import boardStyles from './Board.module.css'
import { useBoardContext } from './boardContext'
import { CallTargetPart } from './CallTargetPart'
import { useChat } from './ChatContext'

/** The groups of equal calls that the reader may decide about. Each call also keeps its own card, in its task. */
export function EqualCalls({ runs }: { runs: readonly SubAgent[] }) {
  const { me, isEditor } = useChat()
  const { tasks } = useBoardContext()
  const rows = tasks.flatMap(task => {
    const run = task.state === 'running' ? runs.find(each => each.runId === task.run_id) : undefined
    return listWaitingRows(run).map(row => ({ task, row }))
  })
  const mine = rows.filter(({ row: { payload } }) => !payload.question && (payload.person_id === me || isEditor))
  // The target of a single call is read by its own card.
  const withTarget = mine.length > 1 ? mine.filter(({ row }) => row.payload.has_target) : []
  const approvals = useApprovals(withTarget.map(({ row }) => row.id))
  const calls = mine.map(call => {
    const index = withTarget.indexOf(call)
    return { ...call, target: index < 0 ? null : approvals[index]?.target }
  })
  return groupEqualCalls(calls).map(group => <EqualCallsCard key={group[0]?.row.id} calls={group} />)
}

/** Lists the messages of the calls and questions of a run that wait for a person. */
const listWaitingRows = (run: SubAgent | undefined) =>
  run ? buildReply(run.rows, []).parts.flatMap(part => (part.kind === 'approval' ? part.row : [])) : []

function EqualCallsCard({ calls }: { calls: readonly WaitingCall[] }) {
  const { t } = useTexts()
  const { board } = useBoardContext()
  const [isRefusing, setRefusing] = useState(false)
  // The frame of the decision removes the card. Its buttons stay disabled until then.
  const { mutate, isPending, isSuccess } = useDecideEqualCalls(board.id, error => showToast(getErrorText(error)))
  const [first] = calls
  if (!first) return null
  const { id, payload } = first.row
  const { tool } = payload
  const isDeciding = isPending || isSuccess
  const n = calls.length
  const numbers = [...new Set(calls.map(call => String(call.task.number)))]
  const names = [...new Set(calls.map(call => call.task.agent_name))]
  const decide = ({ decision, note = '' }: Decision) => {
    if (decision === 'approved' || decision === 'refused') mutate({ id, decision, note })
  }
  const name = isAgentTool(tool) ? t('subAgents.publicAgent') : showHiddenCharacters(tool)
  return (
    <div className={boardStyles.equal}>
      <section className={styles.card} aria-label={t('board.equalCalls', { tool: name })}>
        <div className={styles.head}>
          <span className={styles.icon}>
            <ListChecks className="i" aria-hidden />
          </span>
          <span className={cx(styles.title, 'grow')}>
            {t('board.tasksWantToRun', { numbers: formatList(numbers), count: numbers.length })}{' '}
            {isAgentTool(tool) ? <ToolName tool={tool} /> : <code>{name}</code>}
            <small>{t('board.equalCallsHint')}</small>
          </span>
        </div>
        <Why payload={payload} />
        {first.target ? <CallTargetPart target={first.target} /> : null}
        <Values args={payload.arguments} />
        {isRefusing ? (
          <RefuseForm
            agent={formatList(names)}
            label={t('board.refuseAll', { n })}
            isDeciding={isDeciding}
            onDecide={decide}
            onBack={() => setRefusing(false)}
          />
        ) : (
          <div className={styles.actions}>
            <Button
              tone="good"
              busy={isDeciding && t('board.approveAll', { n })}
              onClick={() => decide({ decision: 'approved' })}
            >
              <Check className="i s" aria-hidden />
              {t('board.approveAll', { n })}
            </Button>
            <Button tone="bad" blocked={isDeciding} onClick={() => setRefusing(true)}>
              {t('board.refuseAllDots', { n })}
            </Button>
            <WhoDecides payload={payload} />
          </div>
        )}
      </section>
    </div>
  )
}
