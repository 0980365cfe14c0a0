import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, deleteWorkspace, keys, useMe, type WorkspaceRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { publicAgentPath } from '@/lib/paths'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { TextField } from '@/ui/Field'
import { PathLink } from '@/ui/PathLink'
import { showToast } from '@/ui/toast'

interface DeleteWorkspaceProps {
  workspace: WorkspaceRow
  onDeleted(): void
  onGo(path: string): void
}

/** The section with the button that deletes the workspace. */
export function DeleteWorkspace(props: DeleteWorkspaceProps) {
  const { t } = useTexts()
  const days = useMe().data?.workspace_purge_days ?? 0
  const [isOpen, setOpen] = useState(false)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('deleteWorkspace')}</h2>
      <div className={cx(blocks.b, 'row spread wrap')}>
        <p className="muted sm">{t('deleteWorkspace.lead', { count: days })}</p>
        <Button tone="bad" onClick={() => setOpen(true)}>
          {t('deleteWorkspace.dots')}
        </Button>
      </div>
      {isOpen ? <DeletionDialog {...props} days={days} onClose={() => setOpen(false)} /> : null}
    </section>
  )
}

interface DeletionDialogProps extends DeleteWorkspaceProps {
  /** Days in which the deletion can be undone. */
  days: number
  onClose(): void
}

function DeletionDialog({ workspace, days, onDeleted, onGo, onClose }: DeletionDialogProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const { busy, error, run } = useAsyncAction()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const isNamed = name.trim() === workspace.name
  const isPasswordWrong = error instanceof ApiError && error.code === 'wrong_password'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isNamed || !password) return
    void run(async () => {
      await deleteWorkspace(workspace.id, { name: name.trim(), password })
      await client.invalidateQueries({ queryKey: keys.me })
      showToast(t('deleteWorkspace.done', { workspace: workspace.name }))
      onDeleted()
    })
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('deleteWorkspace.title', { workspace: workspace.name })}
      description={t('deleteWorkspace.effects', { count: days })}
    >
      <form className="col gap" onSubmit={submit}>
        <TextField
          label={t('takedown.confirm', { name: workspace.name })}
          value={name}
          autoComplete="off"
          autoFocus
          onChange={setName}
        />
        <TextField
          label={t('deleteWorkspace.password')}
          type="password"
          value={password}
          autoComplete="current-password"
          error={isPasswordWrong ? getErrorText(error) : null}
          onChange={setPassword}
        />
        <ErrorBanner error={isPasswordWrong ? null : error} />
        <PublicAgents agents={getPublicAgents(error)} workspace={workspace} onGo={onGo} />
        <div className="row endrow">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button
            tone="bad"
            type="submit"
            blocked={
              !isNamed
                ? t('takedown.typeName', { name: workspace.name })
                : !password && t('deleteWorkspace.typePassword')
            }
            busy={busy ? t('deleteWorkspace.doing') : null}
          >
            {t('deleteWorkspace.do', { workspace: workspace.name })}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface PublicAgent {
  agent_id: string
  name: string
  handle: string
}

/** Returns the public agents because of which the deletion was refused. */
function getPublicAgents(error: unknown): readonly PublicAgent[] {
  if (!(error instanceof ApiError) || error.code !== 'workspace_has_public_agents') return []
  return (error.data['agents'] ?? []) as readonly PublicAgent[]
}

interface PublicAgentsProps extends Pick<DeleteWorkspaceProps, 'workspace' | 'onGo'> {
  agents: readonly PublicAgent[]
}

/** Links to the pages of public agents, where they can be taken down. */
const PublicAgents = ({ agents, workspace, onGo }: PublicAgentsProps) =>
  agents.length > 0 ? (
    <ul className={blocks.rows}>
      {agents.map(agent => (
        <li key={agent.agent_id}>
          <PathLink className="link cut" path={publicAgentPath(workspace.handle, agent.handle)} onGo={onGo}>
            {agent.name}
          </PathLink>
          <span className="faint sm">@{agent.handle}</span>
        </li>
      ))}
    </ul>
  ) : null
