import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { type ToolServerRow, useChangeTool, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { ApproveToolDialog } from './ApproveToolDialog'
import { PolicySelect } from './PolicySelect'
import { TestToolDialog } from './TestToolDialog'
import styles from './Tools.module.css'

interface ToolListItemProps {
  tool: WorkspaceToolRow
  server: ToolServerRow
  workspaceId: string
  mayChange: boolean
}

/** A tool of a server: it is switched on and off, read, and tested. */
export function ToolListItem({ tool, server, workspaceId, mayChange }: ToolListItemProps) {
  const { t } = useTexts()
  const [dialog, setDialog] = useState<'read' | 'test' | null>(null)
  const change = useChangeTool(workspaceId)
  const isChanged = tool.off_reason === 'changed'
  const isGone = tool.off_reason === 'gone'
  const handleSwitch = (is_enabled: boolean) => {
    // A description that nobody has approved is read first.
    if (is_enabled && tool.pending) return setDialog('read')
    change.mutate(
      { id: tool.id, revision: tool.revision, is_enabled },
      { onError: error => showToast(getErrorText(error)) },
    )
  }
  const getDialogProps = (name: typeof dialog) => ({
    tool,
    workspaceId,
    open: dialog === name,
    onOpenChange: (isOpen: boolean) => setDialog(isOpen ? name : null),
  })
  return (
    <li className={cx(styles.tool, isChanged && styles.changed, !tool.is_enabled && styles.off)}>
      {isChanged ? (
        <TriangleAlert className={cx('i', styles.bad)} aria-hidden />
      ) : (
        <Switch
          on={tool.is_enabled}
          label={t('mcp.switch', { name: tool.name })}
          disabled={!mayChange || isGone}
          onChange={handleSwitch}
        />
      )}
      <span className={cx(styles.name, 'mono')} title={tool.remote_name || tool.name}>
        {tool.name}
      </span>
      <Summary tool={tool} />
      <span className="faint xs only-wide">{tool.is_enabled ? t(`mcp.does.${tool.effect}`) : null}</span>
      {isGone ? null : (
        <Button size="xs" aria-haspopup="dialog" onClick={() => setDialog('read')}>
          {t(isChanged ? 'mcp.review' : 'mcp.read')}
        </Button>
      )}
      {mayChange && tool.hash && !tool.pending && !isGone ? (
        <Button size="xs" aria-haspopup="dialog" onClick={() => setDialog('test')}>
          {t('tools.test')}
        </Button>
      ) : null}
      {tool.is_enabled ? <PolicySelect tool={tool} workspaceId={workspaceId} mayChange={mayChange} /> : null}
      <ApproveToolDialog {...getDialogProps('read')} isWrittenHere={server.kind === 'http'} mayChange={mayChange} />
      <TestToolDialog {...getDialogProps('test')} />
    </li>
  )
}

/** Why the tool is off, else its request or its title. */
function Summary({ tool }: { tool: WorkspaceToolRow }) {
  const { t } = useTexts()
  return (
    <span className={cx(styles.about, 'grow cut')}>
      {tool.off_reason === 'changed' ? (
        t('mcp.changed')
      ) : tool.off_reason === 'gone' ? (
        t('mcp.gone')
      ) : tool.request ? (
        <>
          <code>{tool.request.method}</code> {tool.request.path}
        </>
      ) : (
        tool.title || tool.description
      )}
    </span>
  )
}
