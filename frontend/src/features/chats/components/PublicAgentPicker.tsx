import { type KeyboardEvent, useState } from 'react'
import { type ActorRow, usePublicAgents } from '@/api'
import { useTexts } from '@/lib/language'
import { useSettled } from '@/lib/settled'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'

interface PublicAgentPickerProps {
  label: string
  workspaceId: string
  /** The chosen public agents, which stay visible whatever is searched. Without it, a click acts at once. */
  chosen?: readonly ActorRow[]
  /** The ids of those that cannot be picked, because they are in the chat. */
  inside?: ReadonlySet<string>
  onPick(actor: ActorRow): void
}

/** A choice of public agents, searched in the directory. Those in use in the workspace come first. */
export function PublicAgentPicker({ label, workspaceId, chosen, inside, onPick }: PublicAgentPickerProps) {
  const { t } = useTexts()
  const [text, setText] = useState('')
  const query = text.trim()
  const settled = useSettled(query)
  const found = usePublicAgents(workspaceId, settled)
  const isChosen = (id: string) => chosen?.some(actor => actor.id === id) ?? false
  const rows = (found.data?.rows ?? []).filter(({ actor }) => !inside?.has(actor.id) && !isChosen(actor.id))
  const isSearching = query !== settled || found.isFetching
  const pickFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement) || event.nativeEvent.isComposing) return
    event.preventDefault() // otherwise it would submit the form around it
    if (rows[0] && !isSearching && query) onPick(rows[0].actor)
  }
  return (
    <fieldset className={fieldStyles.field} onKeyDown={pickFirst}>
      <legend className={fieldStyles.label}>{label}</legend>
      <SearchInput label={t('findPublicAgents')} value={text} onChange={setText} />
      <div className={blocks.chips} aria-busy={isSearching}>
        {chosen?.map(actor => (
          <Chip key={actor.id} actor={actor} isPressed onPick={onPick} />
        ))}
        {rows.map(({ actor, publisher_name }) => (
          <Chip
            key={actor.id}
            actor={actor}
            note={publisher_name === null ? t('subAgents.readyMade') : publisher_name}
            isPressed={chosen ? false : undefined}
            onPick={onPick}
          />
        ))}
      </div>
      <ErrorBanner error={found.error} />
      <span className="hint" role="status">
        {isSearching || !found.data
          ? ''
          : rows.length === 0 && query
            ? t('noPublicAgent')
            : found.data.hasMore
              ? t('morePublicAgents')
              : ''}
      </span>
    </fieldset>
  )
}

interface ChipProps {
  actor: ActorRow
  /** Who published it. */
  note?: string
  isPressed: boolean | undefined
  onPick(actor: ActorRow): void
}

const Chip = ({ actor, note, isPressed, onPick }: ChipProps) => (
  <button type="button" className={blocks.pick} aria-pressed={isPressed} onClick={() => onPick(actor)}>
    <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square />
    <span className="cut">{actor.name}</span>
    {note ? <span className="cut faint xs">{note}</span> : null}
  </button>
)
