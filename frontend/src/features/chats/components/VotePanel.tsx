import { useState } from 'react'
import { type ComparisonPayload, comparisons, useAgent } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { upsertRows } from '@/realtime'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { showToast } from '@/ui/toast'
import { type Choice, choices, groupVoters } from '../comparisonSides'
import { useChat } from './ChatContext'
import comparisonStyles from './Comparison.module.css'

/** The votes of a comparison. Each person has one vote; clicking it again withdraws it. */
export function VotePanel({ id, comparison }: { id: string; comparison: ComparisonPayload }) {
  const { t } = useTexts()
  const { chatId, me, findActor } = useChat()
  const [isVoting, setVoting] = useState(false)
  const voters = groupVoters(comparison.votes)
  const vote = async (choice: Choice | null) => {
    if (isVoting) return
    setVoting(true)
    try {
      upsertRows(chatId, [await comparisons.vote(chatId, id, choice)])
    } catch (error) {
      showToast(getErrorText(error))
    } finally {
      setVoting(false)
    }
  }
  const labels: Record<Choice, string> = {
    production: t('production'),
    equal: t('compare.equal'),
    draft: t('compare.draft', { apply: `r${comparison.draft.draft_apply}` }),
  }
  return (
    <fieldset className={comparisonStyles.votes} aria-label={t('compare.better')}>
      <span className="muted xs">{comparison.ended ? t('compare.over') : t('compare.better')}</span>
      {choices.map(choice => {
        const isMine = voters[choice].includes(me)
        const names = formatList(voters[choice].map(voter => findActor(voter)?.name ?? t('unknownPerson')))
        return (
          <Button
            key={choice}
            size="xs"
            aria-pressed={isMine}
            blocked={comparison.ended ? t('compare.over') : false}
            title={names ? t('compare.votedBy', { names }) : undefined}
            onClick={() => void vote(isMine ? null : choice)}
          >
            {choice === 'equal' ? null : <LayerIcon layer={choice === 'draft' ? 'applied' : 'production'} />}
            {labels[choice]}
            {voters[choice].length > 0 ? (
              <span className={cx(blocks.count, blocks.quiet)} aria-hidden>
                {voters[choice].length}
              </span>
            ) : null}
          </Button>
        )
      })}
      {comparison.ended ? null : <SaveButton agentId={comparison.target_id} />}
    </fieldset>
  )
}

/** Saves the draft that was compared as the next version; only of those who may. */
function SaveButton({ agentId }: { agentId: string }) {
  const { t } = useTexts()
  const { workspaceId, saveDraft } = useChat()
  const agent = useAgent(workspaceId, agentId).data
  if (!agent?.verbs.includes('save_agent')) return null
  return (
    <Button size="xs" aria-haspopup="dialog" onClick={() => saveDraft(agentId)}>
      <LayerIcon layer="production" />
      {t('compare.saveAs', { version: `v${(agent.spec.number ?? 0) + 1}` })}
    </Button>
  )
}
