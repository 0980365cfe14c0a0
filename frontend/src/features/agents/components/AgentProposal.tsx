import { CircleAlert, PenLine } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type AgentProposalRow, type ProposedAgent, proposeAgent } from '@/api'
import { getErrorText } from '@/lib/errors'
import { t, useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import styles from './AgentProposal.module.css'

/** An agent that a model has proposed, with what the person has changed, and the model. */
interface AgentProposal extends ProposedAgent {
  provider: string
  model: string
}

/** The proposal of an agent for a sentence. It exists only on the screen until an agent is created from it. */
export function useAgentProposal(workspaceId: string) {
  const [proposal, setProposal] = useState<AgentProposal | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const request = useRef<AbortController | null>(null)
  useEffect(() => () => request.current?.abort(), [])

  const clear = () => {
    request.current?.abort()
    setProposal(null)
    setBusy(false)
    setProblem(null)
  }
  const propose = async (sentence: string) => {
    request.current?.abort()
    const controller = new AbortController()
    const { signal } = controller
    request.current = controller
    setBusy(true)
    setProblem(null)
    try {
      const { agent, provider, model, error_code } = await proposeAgent(workspaceId, sentence, signal)
      if (agent) setProposal({ ...agent, provider, model })
      else setProblem(getProblemText(error_code))
    } catch (error) {
      if (signal.aborted) return
      setProblem(getErrorText(error))
    }
    setBusy(false)
  }
  return { proposal, setProposal, busy, problem, propose, clear }
}

function getProblemText(code: AgentProposalRow['error_code']): string {
  if (code === 'answer_invalid' || code === 'empty_answer') return t('proposal.invalid')
  return code ? getRunErrorText(code) : t('proposal.stopped')
}

interface ProposeButtonProps {
  sentence: string
  state: ReturnType<typeof useAgentProposal>
}

/** The button under the sentence that has a model write the prompt, and why the model could not. */
export function ProposeButton({ sentence, state }: ProposeButtonProps) {
  const { t } = useTexts()
  const { proposal, busy, problem, propose, clear } = state
  return (
    <div className="row">
      <Button
        busy={busy ? t('proposal.writing') : null}
        blocked={sentence.trim() ? false : t('proposal.sentenceFirst')}
        onClick={() => void propose(sentence.trim())}
      >
        <PenLine className="i s" aria-hidden />
        {t(proposal ? 'proposal.again' : 'proposal.write')}
      </Button>
      {proposal ? (
        <Button tone="flat" onClick={clear}>
          {t('proposal.discard')}
        </Button>
      ) : null}
      {problem ? (
        <span className={styles.problem} role="alert">
          <CircleAlert className="i s" aria-hidden />
          {problem}
        </span>
      ) : null}
    </div>
  )
}

interface ProposalFieldsProps {
  proposal: AgentProposal
  onChange(proposal: AgentProposal): void
}

/** What the model has proposed, for the person to read and to change. */
export function ProposalFields({ proposal, onChange }: ProposalFieldsProps) {
  const { t } = useTexts()
  return (
    <section className={styles.proposal} aria-label={t('proposal.title')}>
      <p className={styles.by} role="status">
        {proposal.provider === 'demo' ? t('proposal.byDemo') : t('proposal.by', { model: proposal.model })}
      </p>
      <Field label={t('prompt')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            rows={9}
            maxLength={100_000}
            value={proposal.prompt}
            onChange={event => onChange({ ...proposal, prompt: event.target.value })}
          />
        )}
      </Field>
      <TextField
        label={t('description')}
        value={proposal.description}
        maxLength={2_000}
        onChange={description => onChange({ ...proposal, description })}
      />
      {proposal.questions.length > 0 ? (
        <div className={styles.questions}>
          <b>{t('firstSteps.questions')}</b>
          <ul className={blocks.chips}>
            {proposal.questions.map(question => (
              <li key={question} className={styles.question}>
                {question}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </section>
  )
}
