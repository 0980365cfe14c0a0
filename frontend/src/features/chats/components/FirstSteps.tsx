import { Link2, MessageCircleQuestion, PencilRuler } from 'lucide-react'
import { useState } from 'react'
import { type MessageRow, useModel, type WorkspaceRow } from '@/api'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { PathLink } from '@/ui/PathLink'
import { findFirstSteps } from '../firstSteps'
import { useIsDirect, useParticipants } from '../hooks'
import { send } from '../outbox'
import { useChat } from './ChatContext'
import styles from './FirstSteps.module.css'
import { Links } from './Links'
import { useEditorNames } from './RunOutcome'

interface FirstStepsProps {
  messages: readonly MessageRow[]
  workspace: WorkspaceRow
  /** Opens the workshop of an agent, and adds a line to its draft. */
  onImprove(agentId: string, line: string): void
  onSent(): void
  focusComposer(): void
}

/** Between log and composer: example questions, what to do after an answer of the demo model, and how to get a real model. */
export function FirstSteps({ messages, workspace, onImprove, onSent, focusComposer }: FirstStepsProps) {
  const { t } = useTexts()
  const { chatId, findActor } = useChat()
  const model = useModel(workspace.id).data
  const isAgent = (id: string) => findActor(id)?.kind === 'agent'
  const { greeting, unasked, isUnanswered, answer, isImproved } = findFirstSteps(messages, isAgent)
  const people = useParticipants(chatId).filter(({ actor }) => actor.kind === 'human')
  const isDirect = useIsDirect(chatId)
  const [isInviting, setInviting] = useState(false)
  const agentId = greeting?.author_id
  const improvement = isImproved ? null : greeting?.payload.improvement

  const ask = (question: string | undefined) => {
    if (!question || !greeting) return focusComposer()
    // Among several people, an agent answers what replies to it.
    const replyTo = people.length > 1 ? { reply_to: (answer ?? greeting).id } : {}
    void send(chatId, { id: newId(), text: question, ...replyTo, wake: 'auto' })
    onSent()
  }
  return (
    <div className={styles.steps}>
      {isUnanswered && unasked.length > 0 ? (
        <fieldset className={styles.questions} aria-label={t('firstSteps.questions')}>
          {unasked.map(question => (
            <button key={question} type="button" className={styles.question} onClick={() => ask(question)}>
              {question}
            </button>
          ))}
        </fieldset>
      ) : null}
      {answer && agentId ? (
        <fieldset className={styles.buttons} aria-label={t('firstSteps.next')}>
          {improvement ? (
            <Button size="xs" tone="ink" onClick={() => onImprove(agentId, improvement.line)}>
              <PencilRuler className="i s" aria-hidden />
              {improvement.label}
            </Button>
          ) : null}
          <Button size="xs" onClick={() => ask(unasked[0])}>
            <MessageCircleQuestion className="i s" aria-hidden />
            {t('firstSteps.another')}
          </Button>
          {workspace.verbs.includes('invite') && !isDirect ? (
            <Button size="xs" onClick={() => setInviting(true)} aria-haspopup="dialog">
              <Link2 className="i s" aria-hidden />
              {t('firstSteps.invite')}
            </Button>
          ) : null}
        </fieldset>
      ) : null}
      {model?.provider === 'demo' ? <ConnectModel /> : null}
      <Dialog open={isInviting} onOpenChange={setInviting} title={t('firstSteps.invite')}>
        <Links chatId={chatId} canInviteEditors={workspace.verbs.includes('change_role')} />
      </Dialog>
    </div>
  )
}

/** Says that the demo model answers, and who can connect another one. */
function ConnectModel() {
  const { t } = useTexts()
  const { modelPath, onGo } = useChat()
  const names = useEditorNames()
  return (
    <p className={styles.model}>
      {t('firstSteps.demo')}{' '}
      {modelPath ? (
        <PathLink className="link" path={modelPath} onGo={onGo}>
          {t('firstSteps.connect')}
        </PathLink>
      ) : names ? (
        t('firstSteps.askToConnect', { names })
      ) : null}
    </p>
  )
}
