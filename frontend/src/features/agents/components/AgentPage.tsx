import { useQueryClient } from '@tanstack/react-query'
import { MessageSquarePlus, Pencil, PencilRuler, Trash2 } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type ActorRow, type AgentRow, ApiError, deleteAgent, useChangeAgent } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { languageOf } from '@/lib/textLanguage'
import { formatNumber, formatRelative } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { AvatarPicker } from '@/ui/AvatarPicker'
import avatarPickerStyles from '@/ui/AvatarPicker.module.css'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import layout from '@/ui/layout.module.css'
import { showToast } from '@/ui/toast'
import { contentOf, enabledTools } from '../content'

interface AgentPageProps {
  agent: AgentRow
  back: ReactNode
  /** The chats it is in, as links. */
  chats: ReactNode
  /** The way to its versions. */
  history: ReactNode
  /** Its drafts that somebody is editing, with the way to them. */
  editing: ReactNode
  who(id: string): ActorRow | null
  onNewChat(): void
  /** Opens the workshop beside one of its chats; null while it is in none. */
  onEdit: (() => void) | null
  onDeleted(): void
}

/** An agent apart from any chat: what it says of itself, where it is, and how it came to be. */
export function AgentPage({ agent, back, chats, history, editing, who, onNewChat, onEdit, onDeleted }: AgentPageProps) {
  const { t } = useTexts()
  const { actor } = agent
  return (
    <main className={layout.stage}>
      <header className={cx(layout.bar, layout.tall)}>
        {back}
        <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="xl" />
        <div className={layout.titles}>
          <h1 className="cut">{actor.name}</h1>
          <p className="faint xs cut">
            @{actor.handle}
            {actor.description ? ` · ${actor.description}` : ''}
          </p>
        </div>
        <div className="end">
          <Button onClick={onNewChat}>
            <MessageSquarePlus className="i s" aria-hidden />
            {t('chatWith')}
          </Button>
          {onEdit ? (
            <Button tone="ink" onClick={onEdit}>
              <PencilRuler className="i s" aria-hidden />
              {t('openWorkshop')}
            </Button>
          ) : null}
        </div>
      </header>
      <div className={cx(layout.page, layout.pad)}>
        <div className={layout.column}>
          {editing}
          <Prompt agent={agent} who={who} history={history} onEdit={onEdit} />
          <section className={blocks.sec}>
            <h2 className={blocks.h}>{t('chats')}</h2>
            {chats}
          </section>
          {agent.verbs.includes('rename_agent') ? <About key={actor.id} agent={agent} /> : null}
          {agent.verbs.includes('delete_agent') ? <Delete agent={agent} onDeleted={onDeleted} /> : null}
        </div>
      </div>
    </main>
  )
}

/** Lines of a prompt that are shown before it is unfolded. */
const FIRST_LINES = 12

/** What answers today, to read: the prompt, and in one line what else belongs to the version. */
function Prompt({ agent, who, history, onEdit }: Pick<AgentPageProps, 'agent' | 'who' | 'history' | 'onEdit'>) {
  const { t } = useTexts()
  const [isExpanded, setExpanded] = useState(false)
  const { spec } = agent
  const lines = spec.prompt.split('\n')
  const more = isExpanded ? 0 : Math.max(0, lines.length - FIRST_LINES)
  const visible = more ? lines.slice(0, FIRST_LINES).join('\n') : spec.prompt
  const content = contentOf(spec)
  const tools = enabledTools(content).map(tool => tool.tool)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('prompt')}
        <span className={blocks.badge} data-layer="production">
          <LayerIcon layer="production" />v{spec.number}
        </span>
        <span className="faint xs cut regular">
          {who(spec.author_id)?.name ?? t('someoneGone')}, {formatRelative(spec.created_at)} ·{' '}
          {spec.message || t(spec.origin === 'created' ? 'firstVersion' : 'noMessage')}
        </span>
        <span className="end row">
          {history}
          {onEdit ? (
            <Button size="xs" onClick={onEdit}>
              <Pencil className="i s" aria-hidden />
              {t('edit')}
            </Button>
          ) : null}
        </span>
      </h2>
      {spec.prompt.trim() ? (
        <pre className={blocks.preformatted} lang={languageOf(spec.prompt)}>
          {visible}
        </pre>
      ) : (
        <p className={cx(blocks.b, 'faint sm')}>{t('emptyPrompt')}</p>
      )}
      <div className={cx(blocks.b, blocks.footLine)}>
        {more ? (
          <button type="button" className="link" onClick={() => setExpanded(true)}>
            {t('moreLines', { count: more })}
          </button>
        ) : null}
        <span className="faint xs end">
          {[
            spec.model || t('defaultModel'),
            t('nTools', { count: tools.length }),
            t('nSteps', { count: content.limits.max_steps }),
            t('characters', { count: spec.prompt.length, n: formatNumber(spec.prompt.length) }),
          ].join(' · ')}
        </span>
      </div>
      {tools.length > 0 ? (
        <div className={cx(blocks.b, blocks.chips, blocks.lined)}>
          {tools.map(tool => (
            <code key={tool} className={cx(blocks.badge, blocks.line)}>
              {tool}
            </code>
          ))}
        </div>
      ) : null}
    </section>
  )
}

function About({ agent }: { agent: AgentRow }) {
  const { t } = useTexts()
  const [name, setName] = useState(agent.actor.name)
  const [description, setDescription] = useState(agent.actor.description ?? '')
  const [handle, setHandle] = useState(agent.actor.handle)
  const change = useChangeAgent(agent)
  const isRenamed = handle.trim() !== agent.actor.handle
  const isOfHandle = change.error instanceof ApiError && change.variables?.handle !== undefined
  const isChanged = isRenamed || name !== agent.actor.name || description !== (agent.actor.description ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      name: name.trim(),
      description: description.trim(),
      ...(isRenamed ? { handle: handle.trim() } : {}),
    })
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('about')}</h2>
      <form className={cx(blocks.b, 'col gap')} onSubmit={save}>
        <div className={cx(avatarPickerStyles.withName, 'row')}>
          <AvatarPicker
            id={agent.actor.id}
            name={agent.actor.name}
            avatar={agent.actor.avatar}
            square
            canClear
            onChange={avatar => change.mutate({ avatar: avatar ?? { kind: 'automatic' } })}
          />
          <TextField
            label={t('agentName')}
            value={name}
            maxLength={80}
            required
            onChange={setName}
            error={change.error && !isOfHandle ? textOfError(change.error) : null}
          />
        </div>
        <TextField
          label={t('handle')}
          hint={t('handleHint', { handle: handle.trim() })}
          value={handle}
          required
          maxLength={41}
          error={isOfHandle ? textOfError(change.error) : null}
          onChange={setHandle}
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
  const { busy, run } = useAsyncAction()
  const remove = () =>
    run(async () => {
      try {
        await deleteAgent(agent.actor.id)
      } catch (error) {
        showToast(textOfError(error))
        throw error
      }
      await client.invalidateQueries()
      onDeleted()
    })
  const { name } = agent.actor
  return (
    <div className="row">
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
