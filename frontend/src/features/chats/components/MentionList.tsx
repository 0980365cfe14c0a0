import { Users } from 'lucide-react'
import type { ActorRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import menuStyles from '@/ui/Menu.module.css'
import { ALL_PEOPLE } from '../allPeople'
import composerStyles from './Composer.module.css'

interface MentionListProps {
  id: string
  actors: readonly ActorRow[]
  picked: number
  present: readonly string[]
  onPick(actor: ActorRow): void
}

/** The list of people and agents of this chat that can be mentioned. */
export function MentionList({ id, actors, picked, present, onPick }: MentionListProps) {
  const { t } = useTexts()
  return (
    <div className={cx(menuStyles.pop, composerStyles.mentions)} role="listbox" id={id} aria-label={t('mention')}>
      {actors.map((actor, index) => (
        <div key={actor.id}>
          {index === 0 || actors[index - 1]?.kind !== actor.kind ? (
            <div className={menuStyles.cap} role="presentation">
              {t(actor.kind === 'agent' ? 'agentsHere' : 'people')}
            </div>
          ) : null}
          <div
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === picked}
            tabIndex={-1}
            className={menuStyles.opt}
            onMouseDown={event => {
              event.preventDefault()
              onPick(actor)
            }}
          >
            {actor.id === ALL_PEOPLE.id ? (
              <span className={composerStyles.allPeople}>
                <Users className="i" aria-hidden />
              </span>
            ) : (
              <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square={actor.kind === 'agent'} />
            )}
            <span className="cut">{actor.name}</span>
            <span className="end">
              {actor.id === ALL_PEOPLE.id
                ? t('allPeople')
                : present.includes(actor.id)
                  ? t('here')
                  : `@${actor.handle}`}
            </span>
          </div>
        </div>
      ))}
    </div>
  )
}
