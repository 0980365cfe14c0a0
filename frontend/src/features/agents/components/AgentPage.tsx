import { useQueryClient } from '@tanstack/react-query'
import { MessageSquarePlus, Trash2 } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type ActorRow, type AgentRow, deleteAgent, useChangeAgent } from '@/api'
import { useAttempt } from '@/lib/attempt'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { ago } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Face } from '@/ui/Face'
import { TextField } from '@/ui/Field'
import { Mark } from '@/ui/Mark'
import { say } from '@/ui/Toasts'
import { contentOf, enabledTools } from '../content'

interface AgentPageProps {
  agent: AgentRow
  back: ReactNode
  /** The chats it is in, as links. */
  chats: ReactNode
  /** The way to its versions. */
  history: ReactNode
  who(id: string): ActorRow | null
  onNewChat(): void
  onDeleted(): void
}

/** An agent apart from any chat: what it is, where it is, and how it came to be. */
export function AgentPage({ agent, back, chats, history, who, onNewChat, onDeleted }: AgentPageProps) {
  const { t } = useTexts()
  const { actor, spec } = agent
  const tools = enabledTools(contentOf(spec))
  return (
    <main className="stage">
      <header className="bar">
        {back}
        <Face id={actor.id} name={actor.name} square size="m" />
        <h1 className="cut">{actor.name}</h1>
        <span className="faint xs only-wide">@{actor.handle}</span>
        <div className="end">
          <Button tone="ink" onClick={onNewChat}>
            <MessageSquarePlus className="i s" aria-hidden />
            {t('chatWith')}
          </Button>
        </div>
      </header>
      <div className="page pad">
        <div className="column">
          {actor.description ? <p className="muted">{actor.description}</p> : null}
          <section className="sec">
            <h2 className="h">{t('chats')}</h2>
            <div className="b">{chats}</div>
          </section>
          {tools.length > 0 ? (
            <section className="sec">
              <h2 className="h">{t('tools')}</h2>
              <div className="b chips">
                {tools.map(tool => (
                  <code key={tool.tool} className="badge line">
                    {tool.tool}
                  </code>
                ))}
              </div>
            </section>
          ) : null}
          <section className="sec">
            <h2 className="h">{t('versions')}</h2>
            <div className="b row wrap spread">
              <Latest agent={agent} who={who} />
              {history}
            </div>
          </section>
          {agent.verbs.includes('rename_agent') ? <About key={actor.id} agent={agent} /> : null}
          {agent.verbs.includes('delete_agent') ? <Delete agent={agent} onDeleted={onDeleted} /> : null}
        </div>
      </div>
    </main>
  )
}

/** The version that answers today. */
function Latest({ agent, who }: Pick<AgentPageProps, 'agent' | 'who'>) {
  const { t } = useTexts()
  const { spec } = agent
  return (
    <p className="row wrap sm">
      <span className="badge" data-layer="production">
        <Mark layer="production" />v{spec.number}
      </span>
      <span>{spec.message || t(spec.origin === 'created' ? 'firstVersion' : 'noMessage')}</span>
      <span className="faint">
        {who(spec.author_id)?.name ?? t('someoneGone')} · {ago(spec.created_at)}
      </span>
    </p>
  )
}

function About({ agent }: { agent: AgentRow }) {
  const { t } = useTexts()
  const [name, setName] = useState(agent.actor.name)
  const [description, setDescription] = useState(agent.actor.description ?? '')
  const change = useChangeAgent(agent)
  const isChanged = name !== agent.actor.name || description !== (agent.actor.description ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ name: name.trim(), description: description.trim() })
  }
  return (
    <section className="sec">
      <h2 className="h">{t('about')}</h2>
      <form className="b col gap" onSubmit={save}>
        <TextField
          label={t('agentName')}
          value={name}
          maxLength={80}
          required
          onChange={setName}
          error={change.error ? textOfError(change.error) : null}
        />
        <TextField label={t('description')} value={description} maxLength={2_000} onChange={setDescription} />
        <div className="row">
          <Button type="submit" blocked={!isChanged} busy={change.isPending ? t('saving') : null}>
            {t('saveChanges')}
          </Button>
        </div>
      </form>
    </section>
  )
}

/** Deleting shows its effects first. */
function Delete({ agent, onDeleted }: { agent: AgentRow; onDeleted(): void }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const { busy, attempt } = useAttempt()
  const remove = () =>
    attempt(async () => {
      try {
        await deleteAgent(agent.actor.id)
      } catch (error) {
        say(textOfError(error))
        throw error
      }
      await client.invalidateQueries()
      onDeleted()
    })
  const { name } = agent.actor
  return (
    <div>
      <Button tone="bad" onClick={() => setOpen(true)}>
        <Trash2 className="i s" aria-hidden />
        {t('deleteAgent')}
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen} title={t('deleteTitle', { name })} description={t('deleteEffects')}>
        <div className="row endrow">
          <Button onClick={() => setOpen(false)}>{t('cancel')}</Button>
          <Button tone="bad" busy={busy ? t('deleting') : null} onClick={() => void remove()}>
            {t('deleteAgent')}
          </Button>
        </div>
      </Dialog>
    </div>
  )
}
