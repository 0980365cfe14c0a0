import { useAgents, usePublicAgent } from '@/api'
import { useTexts } from '@/lib/language'
import { Avatar, type AvatarData } from '@/ui/Avatar'
import { Checkbox } from '@/ui/Checkbox'
import workshopStyles from './Workshop.module.css'

interface SubAgentsFieldProps {
  workspaceId: string
  /** The agent whose setting it is, which cannot give tasks to itself. */
  agentId: string | null
  /** The handles of the chosen agents. */
  chosen: readonly string[]
  /** The handles that are chosen as long as nobody changes the setting: agents that come with the release. */
  defaultHandles: readonly string[]
  max: number
  isReadOnly: boolean
  onChange(handles: string[]): void
}

/** The choice of the agents that may be given tasks: those of the workspace, and those that come with the release. */
export function SubAgentsField(props: SubAgentsFieldProps) {
  const { workspaceId, agentId, chosen, defaultHandles, max, isReadOnly, onChange } = props
  const { t } = useTexts()
  const agents = useAgents(workspaceId).data ?? []
  const own = agents.filter(
    ({ actor, accepts_tasks: accepts }) =>
      actor.workspace_id === workspaceId && (chosen.includes(actor.handle) || (accepts && actor.id !== agentId)),
  )
  const others = [...new Set([...defaultHandles, ...chosen])].filter(
    handle => !own.some(({ actor }) => actor.handle === handle),
  )
  const toggle = (handle: string) =>
    onChange(chosen.includes(handle) ? chosen.filter(each => each !== handle) : [...chosen, handle])
  const buildOption = (handle: string) => {
    const isChosen = chosen.includes(handle)
    const isFull = !isChosen && chosen.length >= max
    return { handle, isChosen, onToggle: isReadOnly || isFull ? null : () => toggle(handle) }
  }
  return (
    <fieldset className={workshopStyles.subAgents}>
      <legend>{t('field.allowed_sub_agents')}</legend>
      <p className="faint xs">{t('subAgents.allowedHint', { most: max })}</p>
      <ul>
        {others.map(handle => (
          <OtherAgent key={handle} {...buildOption(handle)} />
        ))}
        {own.map(({ actor, accepts_tasks: accepts }) => (
          <Option
            key={actor.id}
            {...buildOption(actor.handle)}
            id={actor.id}
            name={actor.name}
            avatar={actor.avatar}
            note={accepts ? `@${actor.handle}` : t('subAgents.acceptsNone')}
          />
        ))}
      </ul>
    </fieldset>
  )
}

interface OptionProps {
  handle: string
  isChosen: boolean
  /** Null if it cannot be changed. */
  onToggle: (() => void) | null
}

/** An agent that comes with the release, or one that is no longer there. */
function OtherAgent(props: OptionProps) {
  const { t } = useTexts()
  const { handle } = props
  const { data, isError } = usePublicAgent(handle, 60_000)
  if (isError && !props.isChosen) return null
  const note = data?.is_shipped
    ? t('subAgents.readyMade')
    : isError
      ? t('subAgents.notFound')
      : `@${data?.actor.handle ?? handle}`
  return (
    <Option
      {...props}
      id={data?.actor.id ?? handle}
      name={data?.actor.name ?? `@${handle}`}
      avatar={data?.actor.avatar ?? null}
      note={note}
    />
  )
}

interface NamedOptionProps extends OptionProps {
  id: string
  name: string
  avatar: AvatarData | null
  note: string
}

function Option({ id, name, avatar, note, isChosen, onToggle }: NamedOptionProps) {
  const { t } = useTexts()
  return (
    <li>
      {onToggle ? (
        <Checkbox checked={isChosen} label={name} onChange={onToggle} />
      ) : (
        <span className={workshopStyles.state}>{t(isChosen ? 'toolIsOn' : 'toolIsOff')}</span>
      )}
      <Avatar id={id} name={name} avatar={avatar} square />
      <b className="cut">{name}</b>
      <span className="faint xs">{note}</span>
    </li>
  )
}
