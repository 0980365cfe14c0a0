import { Check, LogIn, RotateCcw, Trash2, TriangleAlert, Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import {
  startMcpSignIn,
  type ToolServerRow,
  useDeleteToolServer,
  useRefreshMcpServer,
  useSwitchMcpToolOff,
  type WorkspaceToolRow,
} from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Spinner } from '@/ui/Spinner'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { ApproveToolDialog } from './ApproveToolDialog'
import { PolicySelect } from './PolicySelect'
import styles from './Tools.module.css'

interface McpServerProps {
  server: ToolServerRow
  workspaceId: string
  mayChange: boolean
}

/** How long the answer of a worker is waited for, in ms. */
const MAX_WAIT_MS = 25_000

/** One MCP server: its state, and its tools with switches. */
export function McpServer({ server, workspaceId, mayChange }: McpServerProps) {
  const { t } = useTexts()
  const refresh = useRefreshMcpServer(workspaceId)
  // The time of the last listing when another was asked for; undefined: none is awaited.
  const [awaited, setAwaited] = useState<string | null | undefined>(server.tested_at === null ? null : undefined)
  const isWaiting = awaited !== undefined && awaited === server.tested_at
  useEffect(() => {
    if (!isWaiting) return
    const timer = setTimeout(() => setAwaited(undefined), MAX_WAIT_MS)
    return () => clearTimeout(timer)
  }, [isWaiting])
  const handleRefresh = () => {
    setAwaited(server.tested_at)
    refresh.mutate(server.id, {
      onError: error => {
        setAwaited(undefined)
        showToast(getErrorText(error))
      },
    })
  }
  const on = server.tools.filter(tool => tool.is_enabled).length
  return (
    <section className={blocks.sec} aria-label={server.name}>
      <h2 className={cx(blocks.h, styles.head)}>
        <Unplug className="i" aria-hidden />
        <span className="cut">{server.name}</span>
        <span className={blocks.badge}>MCP</span>
        <span className="faint regular xs">{t('mcp.on', { on, count: server.tools.length })}</span>
        <span className={cx(styles.actions, 'end')}>
          <State server={server} isWaiting={isWaiting} />
          {mayChange && server.auth === 'oauth' && server.can_sign_in ? <SignInButton server={server} /> : null}
          {mayChange ? (
            <Button size="xs" busy={isWaiting ? t('mcp.listing') : null} onClick={handleRefresh}>
              <RotateCcw className="i s" aria-hidden />
              {t('mcp.listAgain')}
            </Button>
          ) : null}
          {mayChange ? <DeleteButton server={server} workspaceId={workspaceId} /> : null}
        </span>
      </h2>
      {server.last_error ? (
        <p className={cx(styles.note, server.state === 'ok' ? 'faint' : styles.bad)} role="status">
          {server.last_error}
        </p>
      ) : null}
      <ul className={cx(blocks.rows, blocks.in)}>
        {server.tools.map(tool => (
          <Tool key={tool.id} tool={tool} workspaceId={workspaceId} mayChange={mayChange} />
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

function State({ server, isWaiting }: { server: ToolServerRow; isWaiting: boolean }) {
  const { t } = useTexts()
  if (isWaiting) return server.tested_at === null ? <Spinner /> : null
  if (server.state === 'untested') return <span className="faint regular xs">{t('mcp.state.untested')}</span>
  if (server.state === 'ok') {
    return (
      <span className={cx(styles.state, styles.good)}>
        <Check className="i s" aria-hidden />
        {t('mcp.state.ok', { when: server.tested_at ? formatRelative(server.tested_at) : '' })}
      </span>
    )
  }
  return (
    <span className={cx(styles.state, styles.bad)}>
      <TriangleAlert className="i s" aria-hidden />
      {t(server.state === 'sign_in' ? 'mcp.state.sign_in' : 'mcp.state.failed')}
    </span>
  )
}

/** Sends the browser to the authorization server of the MCP server. It comes back to this page. */
function SignInButton({ server }: { server: ToolServerRow }) {
  const { t } = useTexts()
  const { busy, error, run } = useAsyncAction()
  useEffect(() => {
    if (error) showToast(getErrorText(error))
  }, [error])
  const handleClick = () =>
    void run(async () => {
      window.location.assign(await startMcpSignIn(server.id))
    })
  return (
    <Button
      size="xs"
      tone={server.state === 'sign_in' ? 'ink' : 'plain'}
      busy={busy ? t('mcp.signIn') : null}
      onClick={handleClick}
    >
      <LogIn className="i s" aria-hidden />
      {t(server.signed_in_by ? 'mcp.signInAgain' : 'mcp.signIn')}
    </Button>
  )
}

/** The button that deletes a server after a dialog has shown the effects. */
function DeleteButton({ server, workspaceId }: { server: ToolServerRow; workspaceId: string }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const remove = useDeleteToolServer(workspaceId)
  return (
    <>
      <IconButton label={t('mcp.delete', { name: server.name })} small onClick={() => setOpen(true)}>
        <Trash2 className="i s" aria-hidden />
      </IconButton>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('mcp.delete.title', { name: server.name })}
        description={t('mcp.delete.effects')}
        action={t('mcp.delete.action')}
        busy={remove.isPending ? t('mcp.deleting') : null}
        onConfirm={() => remove.mutate(server.id, { onError: error => showToast(getErrorText(error)) })}
      />
    </>
  )
}

function Tool({ tool, workspaceId, mayChange }: { tool: WorkspaceToolRow; workspaceId: string; mayChange: boolean }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const switchOff = useSwitchMcpToolOff(workspaceId)
  const isChanged = tool.off_reason === 'changed'
  const isGone = tool.off_reason === 'gone'
  const handleSwitch = (isOn: boolean) => {
    if (isOn) return setOpen(true)
    switchOff.mutate(tool.id, { onError: error => showToast(getErrorText(error)) })
  }
  return (
    <li className={cx(styles.tool, isChanged && styles.changed, !tool.is_enabled && styles.off)}>
      {isChanged ? (
        <TriangleAlert className={cx('i', styles.bad)} aria-hidden />
      ) : (
        <Switch
          on={tool.is_enabled}
          label={t('mcp.switch', { name: tool.remote_name })}
          disabled={!mayChange || isGone}
          onChange={handleSwitch}
        />
      )}
      <span className={cx(styles.name, 'mono')} title={tool.name}>
        {tool.remote_name}
      </span>
      <span className={cx(styles.about, 'grow cut')}>
        {isChanged ? t('mcp.changed') : isGone ? t('mcp.gone') : tool.title || tool.description}
      </span>
      <span className="faint xs only-wide">{tool.is_enabled ? t(`mcp.does.${tool.effect}`) : null}</span>
      {isGone ? null : (
        <Button size="xs" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          {t(isChanged ? 'mcp.review' : 'mcp.read')}
        </Button>
      )}
      {tool.is_enabled ? <PolicySelect tool={tool} workspaceId={workspaceId} mayChange={mayChange} /> : null}
      <ApproveToolDialog
        tool={tool}
        workspaceId={workspaceId}
        mayChange={mayChange}
        open={isOpen}
        onOpenChange={setOpen}
      />
    </li>
  )
}
