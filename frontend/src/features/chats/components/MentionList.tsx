import { Users } from 'lucide-react'
import type { ActorRow } from '@/api'
import { useTexts } from '@/lib/language'
import { Face } from '@/ui/Face'
import { ALL } from '../everybody'

interface MentionListProps {
  id: string
  actors: readonly ActorRow[]
  picked: number
  present: readonly string[]
  onPick(actor: ActorRow): void
}

/** Who can be named here: the agents and people of this room only. */
export function MentionList({ id, actors, picked, present, onPick }: MentionListProps) {
  const { t } = useTexts()
  return (
    <div className="pop mentions" role="listbox" id={id} aria-label={t('mention')}>
      {actors.map((actor, index) => (
        <div key={actor.id}>
          {index === 0 || actors[index - 1]?.kind !== actor.kind ? (
            <div className="cap" role="presentation">
              {t(actor.kind === 'agent' ? 'agentsHere' : 'people')}
            </div>
          ) : null}
          <div
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === picked}
            tabIndex={-1}
            className="opt"
            onMouseDown={event => {
              event.preventDefault()
              onPick(actor)
            }}
          >
            {actor.id === ALL.id ? (
              <Users className="i" aria-hidden />
            ) : (
              <Face id={actor.id} name={actor.name} square={actor.kind === 'agent'} />
            )}
            <span className="cut">{actor.name}</span>
            <span className="end">
              {actor.id === ALL.id ? t('allPeople') : present.includes(actor.id) ? t('here') : `@${actor.handle}`}
            </span>
          </div>
        </div>
      ))}
    </div>
  )
}
