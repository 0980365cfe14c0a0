import { Check, KeyRound, type LucideIcon, Trash2, TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type ToolServerRow, useAgentsWithTool, useDeleteToolServer, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { showToast } from '@/ui/toast'
import { ReplaceCredentialDialog } from './ReplaceCredentialDialog'
import { ToolListItem } from './ToolListItem'
import styles from './Tools.module.css'

export interface ServerProps {
  server: ToolServerRow
  workspaceId: string
  mayChange: boolean
}

interface ServerSectionProps extends ServerProps {
  icon: LucideIcon
  /** The kind of the server. */
  badge: string
  /** The result of the last test or listing. */
  state: ReactNode
  /** The buttons of editors, beside the one that deletes the server. */
  actions: ReactNode
  /** A tool that was added since the page was opened. */
  newTool?: WorkspaceToolRow | undefined
}

/** One server of tools: its state, its tools and its URL. */
export function ServerSection({
  server,
  workspaceId,
  mayChange,
  icon: Icon,
  badge,
  state,
  actions,
  newTool,
}: ServerSectionProps) {
  const { t } = useTexts()
  const on = server.tools.filter(tool => tool.is_enabled).length
  return (
    <section className={blocks.sec} aria-label={server.name}>
      <h2 className={cx(blocks.h, styles.head)}>
        <Icon className="i" aria-hidden />
        <span className="cut">{server.name}</span>
        <span className={blocks.badge}>{badge}</span>
        <span className="faint regular xs">{t('mcp.on', { on, count: server.tools.length })}</span>
        <span className={cx(styles.actions, 'end')}>
          {state}
          {mayChange ? actions : null}
          {mayChange && server.auth !== 'none' && server.auth !== 'oauth' ? (
            <ReplaceCredentialButton server={server} workspaceId={workspaceId} />
          ) : null}
          {mayChange ? <DeleteServerButton server={server} workspaceId={workspaceId} /> : null}
        </span>
      </h2>
      <Problem server={server} />
      {mayChange ? <NextStep server={server} newTool={newTool} /> : null}
      <ul className={cx(blocks.rows, blocks.in)}>
        {server.tools.map(tool => (
          <ToolListItem key={tool.id} tool={tool} server={server} workspaceId={workspaceId} mayChange={mayChange} />
        ))}
      </ul>
      <p className={cx(blocks.b, styles.foot, 'faint xs')}>
        <code className="cut">{server.base_url}</code>
        {server.credential_last4 ? <span>{t('mcp.credential', { end: server.credential_last4 })}</span> : null}
        {server.signed_in_by ? <span>{t('mcp.signedInBy', { name: server.signed_in_by })}</span> : null}
      </p>
    </section>
  )
}

/** Why the server failed, or what was left out of its list. */
function Problem({ server }: { server: ToolServerRow }) {
  const { t } = useTexts()
  if (!server.last_error) return null
  return (
    <p className={cx(styles.note, server.state === 'ok' ? 'faint' : styles.bad)} role="status">
      {server.error_code ? (
        <>
          {t(`mcp.error.${server.error_code}`)}{' '}
          {server.error_code === 'sign_in_needed' && server.auth === 'none' ? t('mcp.addAgain') : null}{' '}
          <span className="faint" lang="en">
            {server.last_error}
          </span>
        </>
      ) : (
        server.last_error
      )}
    </p>
  )
}

/** What an editor does next, until an agent can use a tool of the server. */
function NextStep({ server, newTool }: Pick<ServerSectionProps, 'server' | 'newTool'>) {
  const { t } = useTexts()
  if (newTool && server.tools.some(tool => tool.id === newTool.id)) return <WhoHasIt tool={newTool} />
  const isMcp = server.kind === 'mcp'
  const text: PlainTextKey | null =
    server.tools.length === 0
      ? isMcp
        ? null
        : 'tools.next.addTool'
      : isMcp && !server.tools.some(tool => tool.is_enabled)
        ? 'tools.next.approve'
        : null
  return text ? <p className={styles.note}>{t(text)}</p> : null
}

function WhoHasIt({ tool }: { tool: WorkspaceToolRow }) {
  const { t } = useTexts()
  const agents = useAgentsWithTool(tool.id).data
  if (!agents) return null
  const names = agents.map(agent => agent.actor.name).join(t('listJoin'))
  return (
    <p className={styles.note} role="status">
      {names ? t('tools.next.agents', { names, name: tool.name }) : t('tools.next.noAgents', { name: tool.name })}
    </p>
  )
}

/** Whether the server answered when a tool was last tested, or its tools were last read. */
export function ServerOutcome({ isOk, text }: { isOk: boolean; text: string }) {
  const Icon = isOk ? Check : TriangleAlert
  return (
    <span className={cx(styles.state, isOk ? styles.good : styles.bad)}>
      <Icon className="i s" aria-hidden />
      {text}
    </span>
  )
}

function ReplaceCredentialButton({ server, workspaceId }: { server: ToolServerRow; workspaceId: string }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <IconButton label={t('tools.replaceCredential', { name: server.name })} small onClick={() => setOpen(true)}>
        <KeyRound className="i s" aria-hidden />
      </IconButton>
      <ReplaceCredentialDialog server={server} workspaceId={workspaceId} open={isOpen} onOpenChange={setOpen} />
    </>
  )
}

/** The button that deletes a server after a dialog has shown the effects. */
function DeleteServerButton({ server, workspaceId }: { server: ToolServerRow; workspaceId: string }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const remove = useDeleteToolServer(workspaceId)
  return (
    <>
      <IconButton label={t('tools.deleteServer', { name: server.name })} small onClick={() => setOpen(true)}>
        <Trash2 className="i s" aria-hidden />
      </IconButton>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('tools.delete.title', { name: server.name })}
        description={t('tools.deleteServer.hint')}
        action={t('tools.delete')}
        busy={remove.isPending ? t('tools.deleting') : null}
        onConfirm={() => remove.mutate(server.id, { onError: error => showToast(getErrorText(error)) })}
      />
    </>
  )
}
