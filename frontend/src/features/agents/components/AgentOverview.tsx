import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type ActorRow, type AgentRow, ApiError, deleteAgent, useChangeAgent } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatNumber, formatRelative } from '@/lib/time'
import { AvatarPicker } from '@/ui/AvatarPicker'
import avatarPickerStyles from '@/ui/AvatarPicker.module.css'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { TextField } from '@/ui/Field'
import layout from '@/ui/layout.module.css'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { listEnabledTools } from '../content'
import styles from './AgentOverview.module.css'
import { ToolName } from './ToolName'

interface AgentOverviewProps {
  agent: AgentRow
  /** Links to the chats of the agent. */
  chats: ReactNode
  /** The link to the versions of the agent. */
  history: ReactNode
  /** The drafts that are being edited, with links to them. */
  editing: ReactNode
  /** Its place among the agents of the workspace. */
  team: ReactNode
  /** Whether it is public; null for readers who may not publish it. */
  publication: ReactNode
  findActor(id: string): ActorRow | null
  /** Opens the workshop in one of the agent's chats; null while it is in none. */
  onEdit: (() => void) | null
  onDeleted(): void
}

/** The first tab of an agent's page: its production version, chats, description and deletion. */
export function AgentOverview({
  agent,
  chats,
  history,
  editing,
  team,
  publication,
  findActor,
  onEdit,
  onDeleted,
}: AgentOverviewProps) {
  const { t } = useTexts()
  const { actor } = agent
  return (
    <div className={cx(layout.page, layout.pad)}>
      <div className={styles.overview}>
        <div className={styles.part}>
          {editing}
          <Prompt agent={agent} findActor={findActor} history={history} onEdit={onEdit} />
          <section className={blocks.sec}>
            <h2 className={blocks.h}>{t('chats')}</h2>
            {chats}
          </section>
        </div>
        <div className={cx(styles.part, styles.side)}>
          {team}
          {publication}
        </div>
        <div className={styles.part}>
          {agent.verbs.includes('update_agent_profile') ? <AboutForm key={actor.id} agent={agent} /> : null}
          {agent.verbs.includes('delete_agent') ? <DeleteButton agent={agent} onDeleted={onDeleted} /> : null}
        </div>
      </div>
    </div>
  )
}

/** Number of lines of the prompt shown before it is expanded. */
const COLLAPSED_LINES = 12

/** The production version: its prompt, and a summary of its other settings. */
function Prompt({
  agent,
  findActor,
  history,
  onEdit,
}: Pick<AgentOverviewProps, 'agent' | 'findActor' | 'history' | 'onEdit'>) {
  const { t } = useTexts()
  const [isExpanded, setExpanded] = useState(false)
  const { spec } = agent
  const { content } = spec
  const lines = content.prompt.split('\n')
  const hiddenLines = isExpanded ? 0 : Math.max(0, lines.length - COLLAPSED_LINES)
  const visibleText = hiddenLines ? lines.slice(0, COLLAPSED_LINES).join('\n') : content.prompt
  const tools = listEnabledTools(content).map(tool => tool.tool)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('prompt')}
        <span className={blocks.badge} data-layer="production">
          <LayerIcon layer="production" />v{spec.number}
        </span>
        <span className="faint xs cut regular">
          {findActor(spec.author_id)?.name ?? t('someoneGone')}, {formatRelative(spec.created_at)} ·{' '}
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
      {content.prompt.trim() ? (
        <pre className={blocks.preformatted} lang={detectLanguage(content.prompt)}>
          {visibleText}
        </pre>
      ) : (
        <p className={cx(blocks.b, 'faint sm')}>{t('emptyPrompt')}</p>
      )}
      <div className={cx(blocks.b, blocks.footLine)}>
        {hiddenLines ? (
          <button type="button" className="link" onClick={() => setExpanded(true)}>
            {t('moreLines', { count: hiddenLines })}
          </button>
        ) : null}
        <span className="faint xs end">
          {[
            content.model || t('defaultModel'),
            t('nTools', { count: tools.length }),
            t('nSteps', { count: content.limits.max_steps }),
            t('characters', { count: content.prompt.length, n: formatNumber(content.prompt.length) }),
          ].join(' · ')}
        </span>
      </div>
      {tools.length > 0 ? (
        <div className={cx(blocks.b, blocks.chips, blocks.lined)}>
          {tools.map(tool => (
            <span key={tool} className={cx(blocks.badge, blocks.line)}>
              <ToolName tool={tool} />
            </span>
          ))}
        </div>
      ) : null}
    </section>
  )
}

function AboutForm({ agent }: { agent: AgentRow }) {
  const { t } = useTexts()
  const [name, setName] = useState(agent.actor.name)
  const [description, setDescription] = useState(agent.actor.description ?? '')
  const [handle, setHandle] = useState(agent.actor.handle)
  const [role, setRole] = useState(agent.role)
  const change = useChangeAgent(agent)
  const isHandleChanged = handle.trim() !== agent.actor.handle
  const isHandleError = change.error instanceof ApiError && change.variables?.handle !== undefined
  const isChanged =
    isHandleChanged ||
    role !== agent.role ||
    name !== agent.actor.name ||
    description !== (agent.actor.description ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      name: name.trim(),
      description: description.trim(),
      role: role.trim(),
      ...(isHandleChanged ? { handle: handle.trim() } : {}),
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
            error={change.error && !isHandleError ? getErrorText(change.error) : null}
          />
        </div>
        <TextField
          label={t('handle')}
          hint={t('handleHint', { handle: handle.trim() })}
          value={handle}
          required
          maxLength={41}
          error={isHandleError ? getErrorText(change.error) : null}
          onChange={setHandle}
        />
        <TextField label={t('tree.role')} hint={t('tree.roleHint')} value={role} maxLength={80} onChange={setRole} />
        <TextField label={t('description')} value={description} maxLength={2_000} onChange={setDescription} />
        <div className="row spread">
          <span className="col sm">
            {t('acceptsTasks')}
            <span className="hint">{t('acceptsTasksHint')}</span>
          </span>
          <Switch
            label={t('acceptsTasks')}
            on={agent.accepts_tasks}
            disabled={change.isPending}
            onChange={accepts_tasks => change.mutate({ accepts_tasks })}
          />
        </div>
        <div className="row">
          <Button type="submit" blocked={!isChanged} busy={change.isPending ? t('saving') : null}>
            {t('saveChanges')}
          </Button>
        </div>
      </form>
    </section>
  )
}

/** The button that deletes the agent after a dialog has shown the effects. */
function DeleteButton({ agent, onDeleted }: { agent: AgentRow; onDeleted(): void }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const { busy, run } = useAsyncAction()
  const remove = () =>
    run(async () => {
      try {
        await deleteAgent(agent.actor.id)
      } catch (error) {
        showToast(getErrorText(error))
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
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('deleteTitle', { name })}
        description={t('deleteEffects')}
        action={t('deleteAgent')}
        busy={busy ? t('deleting') : null}
        onConfirm={() => void remove()}
      />
    </div>
  )
}
