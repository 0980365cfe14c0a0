import { useRef, useState } from 'react'
import { useAgents, usePublicAgent, usePublicAgents } from '@/api'
import { useTexts } from '@/lib/language'
import { useSettled } from '@/lib/settled'
import { Avatar, type AvatarData } from '@/ui/Avatar'
import { Checkbox } from '@/ui/Checkbox'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SearchInput } from '@/ui/Field'
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
  /** Whether public agents are searched and chosen, too, by their names as tools. */
  hasPublicAgents?: boolean
  isReadOnly: boolean
  onChange(handles: string[]): void
}

/** The choice of the agents that may be given tasks: those of the workspace, and those that come with the release or are public. */
export function SubAgentsField(props: SubAgentsFieldProps) {
  const { workspaceId, agentId, chosen, defaultHandles, max, hasPublicAgents, isReadOnly, onChange } = props
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
      {hasPublicAgents && !isReadOnly ? (
        <PublicAgentSearch
          workspaceId={workspaceId}
          listed={[...others, ...own.map(({ actor }) => actor.handle)]}
          buildOption={buildOption}
        />
      ) : null}
    </fieldset>
  )
}

interface PublicAgentSearchProps {
  workspaceId: string
  /** The handles and names as tools of the agents that are listed above. */
  listed: readonly string[]
  buildOption(name: string): OptionProps
}

/** Public agents that match what the reader types. One that is chosen moves into the list above. */
function PublicAgentSearch({ workspaceId, listed, buildOption }: PublicAgentSearchProps) {
  const { t } = useTexts()
  const [text, setText] = useState('')
  const settled = useSettled(text.trim())
  const root = useRef<HTMLDivElement>(null)
  const buildFoundOption = (name: string) => {
    const option = buildOption(name)
    const choose = () => {
      option.onToggle?.()
      // Its line leaves what was found, with the focus.
      root.current?.querySelector('input')?.focus()
    }
    return { ...option, onToggle: option.onToggle && choose }
  }
  return (
    <div className={workshopStyles.agentSearch} ref={root}>
      <SearchInput label={t('findPublicAgents')} value={text} onChange={setText} />
      {settled === '' ? null : (
        <FoundAgents workspaceId={workspaceId} query={settled} listed={listed} buildOption={buildFoundOption} />
      )}
    </div>
  )
}

function FoundAgents({ workspaceId, query, listed, buildOption }: PublicAgentSearchProps & { query: string }) {
  const { t } = useTexts()
  const found = usePublicAgents(workspaceId, query)
  // Another publisher may get the handle of one that was taken down, so only those of the release are named by it.
  const rows = (found.data?.rows ?? [])
    .map(row => ({ ...row, name: row.is_shipped ? row.actor.handle : row.tool_name }))
    .filter(({ name }) => !listed.includes(name))
  return (
    <>
      <ul aria-busy={found.isFetching}>
        {rows.map(({ actor, name, publisher_name: publisher }) => (
          <Option
            key={actor.id}
            {...buildOption(name)}
            id={actor.id}
            name={actor.name}
            avatar={actor.avatar}
            note={publisher === null ? t('subAgents.readyMade') : t('subAgents.byPublisher', { name: publisher })}
          />
        ))}
      </ul>
      <ErrorBanner error={found.error} />
      <p className="faint xs" role="status">
        {!found.data || found.isFetching
          ? ''
          : rows.length === 0
            ? t(found.data.rows.length === 0 ? 'noPublicAgent' : 'subAgents.listedAbove')
            : found.data.hasMore
              ? t('morePublicAgents')
              : ''}
      </p>
    </>
  )
}

interface OptionProps {
  handle: string
  isChosen: boolean
  /** Null if it cannot be changed. */
  onToggle: (() => void) | null
}

/** An agent that comes with the release, a public one, or one that is no longer there. */
function OtherAgent(props: OptionProps) {
  const { t } = useTexts()
  const { handle } = props
  const { data, isError } = usePublicAgent(handle, 60_000)
  if (isError && !props.isChosen) return null
  const note = data?.is_shipped
    ? t('subAgents.readyMade')
    : isError
      ? t('subAgents.notFound')
      : data?.publisher_name
        ? t('subAgents.byPublisher', { name: data.publisher_name })
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
