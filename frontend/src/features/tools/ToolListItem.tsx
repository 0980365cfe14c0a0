import { Ellipsis, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { type ToolServerRow, useChangeTool, useDeleteTool, type WorkspaceToolRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Menu, MenuItem } from '@/ui/Menu'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { AgentsWithTool } from './AgentsWithTool'
import { ApproveToolDialog } from './ApproveToolDialog'
import { PolicySelect } from './PolicySelect'
import { TestToolDialog } from './TestToolDialog'
import { ToolFormDialog } from './ToolFormDialog'
import styles from './Tools.module.css'

type ToolDialog = 'read' | 'test' | 'change' | 'delete'

interface ToolListItemProps {
  tool: WorkspaceToolRow
  server: ToolServerRow
  workspaceId: string
  mayChange: boolean
}

/** A tool of a server: it is switched on and off, read, tested, changed and deleted. */
export function ToolListItem({ tool, server, workspaceId, mayChange }: ToolListItemProps) {
  const { t } = useTexts()
  const [dialog, setDialog] = useState<ToolDialog | null>(null)
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
      <MainButton tool={tool} mayChange={mayChange} onChoose={setDialog} />
      {tool.is_enabled ? <PolicySelect tool={tool} workspaceId={workspaceId} mayChange={mayChange} /> : null}
      {mayChange ? <ToolMenu tool={tool} canDelete={server.kind !== 'mcp' || isGone} onChoose={setDialog} /> : null}
      <ApproveToolDialog {...getDialogProps('read')} isWrittenHere={server.kind === 'http'} mayChange={mayChange} />
      <TestToolDialog {...getDialogProps('test')} />
      <ToolFormDialog {...getDialogProps('change')} server={server} />
      <DeleteToolDialog {...getDialogProps('delete')} />
    </li>
  )
}

interface ToolMenuProps {
  tool: WorkspaceToolRow
  /** False for a tool that an MCP server still has: it would be listed again. */
  canDelete: boolean
  onChoose(dialog: ToolDialog): void
}

function ToolMenu({ tool, canDelete, onChoose }: ToolMenuProps) {
  const { t } = useTexts()
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={t('tools.more', { name: tool.name })} small>
          <Ellipsis className="i s" aria-hidden />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onChoose('read')}>{t('tools.read.menu')}</MenuItem>
      <MenuItem onSelect={() => onChoose('change')}>{t('tools.change')}</MenuItem>
      {canDelete ? (
        <MenuItem bad onSelect={() => onChoose('delete')}>
          {t('tools.deleteTool')}
        </MenuItem>
      ) : null}
    </Menu>
  )
}

interface MainButtonProps {
  tool: WorkspaceToolRow
  mayChange: boolean
  onChoose(dialog: ToolDialog): void
}

/** What editors can do next: read a definition that waits, or test an approved tool. Other members only read it. */
function MainButton({ tool, mayChange, onChoose }: MainButtonProps) {
  const { t } = useTexts()
  if (tool.off_reason === 'gone') return null
  const canTest = mayChange && tool.hash !== '' && !tool.pending
  return (
    <Button size="xs" aria-haspopup="dialog" onClick={() => onChoose(canTest ? 'test' : 'read')}>
      {t(canTest ? 'tools.test' : tool.off_reason === 'changed' ? 'mcp.review' : 'mcp.read')}
    </Button>
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

interface DeleteToolDialogProps {
  tool: WorkspaceToolRow
  workspaceId: string
  open: boolean
  onOpenChange(open: boolean): void
}

/** Asks before a tool is deleted, and says which agents have it. */
function DeleteToolDialog({ tool, workspaceId, ...dialog }: DeleteToolDialogProps) {
  const { t } = useTexts()
  const remove = useDeleteTool(workspaceId)
  return (
    <ConfirmDialog
      {...dialog}
      title={t('tools.delete.title', { name: tool.name })}
      description={t('tools.deleteTool.hint')}
      action={t('tools.delete')}
      busy={remove.isPending ? t('tools.deleting') : null}
      onConfirm={() => remove.mutate(tool.id, { onError: error => showToast(getErrorText(error)) })}
    >
      <AgentsWithTool tool={tool} text="tools.deleteTool.agents" />
    </ConfirmDialog>
  )
}
