import { useState } from 'react'
import type { ActorRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import blocks from '@/ui/blocks.module.css'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { matching } from '../mention'

interface ActorPickerProps {
  label: string
  actors: readonly ActorRow[]
  /** Who is chosen; without it a press acts at once. */
  chosen?: ReadonlySet<string>
  onPick(actor: ActorRow): void
}

/** From so many on they are searched, and no more are shown. */
const MANY = 12

/** People and agents to choose from; of many, those whose name or handle is written. */
export function ActorPicker({ label, actors, chosen, onPick }: ActorPickerProps) {
  const { t } = useTexts()
  const [query, setQuery] = useState('')
  const isChosen = (actor: ActorRow) => chosen?.has(actor.id) ?? false
  const found = matching(actors, query.trim()).filter(actor => !isChosen(actor))
  const visible = [...actors.filter(isChosen), ...found.slice(0, MANY)]
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>{label}</legend>
      {actors.length > MANY ? <SearchInput label={t('findPeople')} value={query} onChange={setQuery} /> : null}
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
          : found.length > MANY
            ? t('findMore', { n: found.length - MANY })
            : ''}
      </span>
    </fieldset>
  )
}
