import { useState } from 'react'
import type { ActorRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { filterByName } from '../mention'

interface ActorPickerProps {
  label: string
  actors: readonly ActorRow[]
  /** The ids of the chosen actors. Without it, a click acts at once. */
  chosen?: ReadonlySet<string>
  onPick(actor: ActorRow): void
}

/** The maximal number of actors shown; with more, a search field appears. */
const MAX_SHOWN = 12

/** A choice of people and agents, with a search by name or handle if there are many. */
export function ActorPicker({ label, actors, chosen, onPick }: ActorPickerProps) {
  const { t } = useTexts()
  const [query, setQuery] = useState('')
  const isChosen = (actor: ActorRow) => chosen?.has(actor.id) ?? false
  const found = filterByName(actors, query.trim()).filter(actor => !isChosen(actor))
  const visible = [...actors.filter(isChosen), ...found.slice(0, MAX_SHOWN)]
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>{label}</legend>
      {actors.length > MAX_SHOWN ? <SearchInput label={t('findPeople')} value={query} onChange={setQuery} /> : null}
      <div className={blocks.chips}>
        {visible.map(actor => (
          <button
            key={actor.id}
            type="button"
            className={blocks.pick}
            aria-pressed={chosen ? isChosen(actor) : undefined}
            onClick={() => onPick(actor)}
          >
            <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square={actor.kind === 'agent'} />
            {actor.name}
          </button>
        ))}
      </div>
      <span className="hint" role="status">
        {found.length === 0 && query
          ? t('noMatchingPeople')
          : found.length > MAX_SHOWN
            ? t('findMore', { n: found.length - MAX_SHOWN })
            : ''}
      </span>
    </fieldset>
  )
}
