import { ArrowLeft, ChevronDown, Columns2, Globe, History, X } from 'lucide-react'
import type { ActorRow, AgentRow, WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { publishPath } from '@/lib/paths'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import layout from '@/ui/layout.module.css'
import { Menu, MenuItem } from '@/ui/Menu'
import { buildVersionsPath } from '../versions/pair'
import workshopStyles from './Workshop.module.css'

interface WorkshopHeaderProps {
  chatId: string
  workspace: WorkspaceRow
  agent: AgentRow
  /** The agents of this chat that can be opened here, also the open one. */
  agents: readonly ActorRow[]
  onAgent(id: string): void
  onClose(): void
  /** Navigates to a path of this app. */
  onGo(path: string): void
  onCompare(): void
}

/** The header of the workshop: the agent, and buttons for its versions, comparing and closing. */
export function WorkshopHeader({
  chatId,
  workspace,
  agent,
  agents,
  onAgent,
  onClose,
  onGo,
  onCompare,
}: WorkshopHeaderProps) {
  const { t } = useTexts()
  const { actor } = agent
  return (
    <header className={layout.bar}>
      <IconButton className="only-phone" label={t('backToChat')} onClick={onClose}>
        <ArrowLeft className="i" />
      </IconButton>
      <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="m" />
      {agents.length > 1 ? (
        <Menu
          label={t('agents')}
          trigger={
            <button type="button" className={cx(workshopStyles.agentpick, 'row')}>
              <h2 className="cut">{actor.name}</h2>
              <ChevronDown className="i s faint" aria-hidden />
            </button>
          }
        >
          {agents.map(other => (
            <MenuItem key={other.id} onSelect={() => onAgent(other.id)}>
              <Avatar id={other.id} name={other.name} avatar={other.avatar} square />
              {other.name}
            </MenuItem>
          ))}
        </Menu>
      ) : (
        <h2 className="cut">{actor.name}</h2>
      )}
      <div className="end">
        <IconButton
          label={t('versions')}
          onClick={() => onGo(buildVersionsPath(workspace.handle, agent.actor.id, chatId))}
        >
          <History className="i" />
        </IconButton>
        <IconButton label={t('compare.dots')} onClick={onCompare} aria-haspopup="dialog">
          <Columns2 className="i" />
        </IconButton>
        {agent.verbs.includes('publish_agent') ? (
          <IconButton label={t('publish.dots')} onClick={() => onGo(publishPath(workspace.handle, agent.actor.id))}>
            <Globe className="i" />
          </IconButton>
        ) : null}
        <IconButton className="only-wide" label={t('closeWorkshop')} onClick={onClose}>
          <X className="i" />
        </IconButton>
      </div>
    </header>
  )
}
