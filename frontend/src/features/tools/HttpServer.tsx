import { Braces, Check, Globe, Plus, Trash2, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { type ToolServerRow, useDeleteToolServer, useSwitchTool, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { AddToolDialog } from './AddToolDialog'
import { ApproveToolDialog } from './ApproveToolDialog'
import { ImportDialog } from './ImportDialog'
import { PolicySelect } from './PolicySelect'
import { TestToolDialog } from './TestToolDialog'
import styles from './Tools.module.css'

interface HttpServerProps {
  server: ToolServerRow
  workspaceId: string
  mayChange: boolean
}

/** One server of HTTP tools, whose tools are described by forms or an OpenAPI document. */
export function HttpServer({ server, workspaceId, mayChange }: HttpServerProps) {
  const { t } = useTexts()
  const [dialog, setDialog] = useState<'add' | 'delete' | null>(null)
  const remove = useDeleteToolServer(workspaceId)
  const isOpenApi = server.kind === 'openapi'
  const Icon = isOpenApi ? Braces : Globe
  const close = (isOpen: boolean) => setDialog(isOpen ? dialog : null)
  return (
    <section className={blocks.sec} aria-label={server.name}>
      <h2 className={cx(blocks.h, styles.head)}>
        <Icon className="i" aria-hidden />
        <span className="cut">{server.name}</span>
        <span className={blocks.badge}>{isOpenApi ? 'OpenAPI' : 'HTTP'}</span>
        <span className="faint regular xs">
          {t('mcp.on', { on: server.tools.filter(tool => tool.is_enabled).length, count: server.tools.length })}
        </span>
        <span className={cx(styles.actions, 'end')}>
          <State server={server} />
          {mayChange ? (
            <>
              <Button size="xs" aria-haspopup="dialog" onClick={() => setDialog('add')}>
                {isOpenApi ? null : <Plus className="i s" aria-hidden />}
                {t(isOpenApi ? 'tools.choose' : 'tools.addOne')}
              </Button>
              <IconButton label={t('tools.deleteServer', { name: server.name })} onClick={() => setDialog('delete')}>
                <Trash2 className="i s" aria-hidden />
              </IconButton>
            </>
          ) : null}
        </span>
      </h2>
      {server.last_error ? (
        <p className={cx(styles.note, styles.bad)} role="status">
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
      </p>
      {isOpenApi ? (
        <ImportDialog workspaceId={workspaceId} server={server} open={dialog === 'add'} onOpenChange={close} />
      ) : (
        <AddToolDialog workspaceId={workspaceId} server={server} open={dialog === 'add'} onOpenChange={close} />
      )}
      <ConfirmDialog
        open={dialog === 'delete'}
        onOpenChange={close}
        title={t('tools.deleteServer', { name: server.name })}
        description={t('tools.deleteServer.hint')}
        action={t('tools.delete')}
        onConfirm={() => {
          setDialog(null)
          remove.mutate(server.id, { onError: error => showToast(getErrorText(error)) })
        }}
      />
    </section>
  )
}

function State({ server }: { server: ToolServerRow }) {
  const { t } = useTexts()
  if (server.state === 'untested' || !server.tested_at) {
    return <span className="faint regular xs">{t('tools.untested')}</span>
  }
  const isOk = server.state === 'ok'
  const Icon = isOk ? Check : TriangleAlert
  return (
    <span className={cx(styles.state, isOk ? styles.good : styles.bad)}>
      <Icon className="i s" aria-hidden />
      {isOk ? t('tools.tested', { when: formatRelative(server.tested_at) }) : t('tools.failed')}
    </span>
  )
}

function Tool({ tool, workspaceId, mayChange }: { tool: WorkspaceToolRow; workspaceId: string; mayChange: boolean }) {
  const { t } = useTexts()
  const [dialog, setDialog] = useState<'review' | 'test' | null>(null)
  const switchTool = useSwitchTool(workspaceId)
  const isChanged = tool.off_reason === 'changed'
  const isGone = tool.off_reason === 'gone'
  const close = (isOpen: boolean) => setDialog(isOpen ? dialog : null)
  return (
    <li className={cx(styles.tool, isChanged && styles.changed, !tool.is_enabled && styles.off)}>
      {isChanged ? (
        <TriangleAlert className={cx('i', styles.bad)} aria-hidden />
      ) : (
        <Switch
          on={tool.is_enabled}
          label={t('mcp.switch', { name: tool.name })}
          disabled={!mayChange || isGone}
          onChange={is_enabled =>
            switchTool.mutate(
              { id: tool.id, revision: tool.revision, is_enabled },
              { onError: error => showToast(getErrorText(error)) },
            )
          }
        />
      )}
      <span className={cx(styles.name, 'mono')}>{tool.name}</span>
      <span className={cx(styles.about, 'grow cut')}>
        {isChanged ? (
          t('mcp.changed')
        ) : isGone ? (
          t('mcp.gone')
        ) : (
          <>
            <code>{tool.method}</code> {tool.path}
          </>
        )}
      </span>
      <span className="faint xs only-wide">{tool.is_enabled ? t(`mcp.does.${tool.effect}`) : null}</span>
      {isGone ? null : (
        <Button size="xs" aria-haspopup="dialog" onClick={() => setDialog('review')}>
          {t(isChanged ? 'mcp.review' : 'mcp.read')}
        </Button>
      )}
      {mayChange && !tool.pending && !isGone ? (
        <Button size="xs" aria-haspopup="dialog" onClick={() => setDialog('test')}>
          {t('tools.test')}
        </Button>
      ) : null}
      {tool.is_enabled ? <PolicySelect tool={tool} workspaceId={workspaceId} mayChange={mayChange} /> : null}
      <ApproveToolDialog
        tool={tool}
        isImported
        workspaceId={workspaceId}
        mayChange={mayChange && isChanged}
        open={dialog === 'review'}
        onOpenChange={close}
      />
      <TestToolDialog tool={tool} workspaceId={workspaceId} open={dialog === 'test'} onOpenChange={close} />
    </li>
  )
}
