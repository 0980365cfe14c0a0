import { Paperclip } from 'lucide-react'
import { useState } from 'react'
import type { ActorRow, ListedChatRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import fieldStyles from '@/ui/Field.module.css'
import { FilterSelect } from '@/ui/FilterSelect'
import { addDays, getToday } from '../filters'
import type { MessageSearch, SearchChange } from '../search'
import styles from './Search.module.css'

interface FiltersProps {
  search: MessageSearch
  chats: readonly ListedChatRow[]
  actors: readonly ActorRow[]
  onSearch(change: SearchChange): void
  className?: string
}

const PERIODS = [7, 30, 365] as const

/** The filters of a search, and the order of its hits. */
export function Filters({ search, chats, actors, onSearch, className }: FiltersProps) {
  const { t } = useTexts()
  const change = (filter: SearchChange) => onSearch({ ...filter, m: undefined })
  const people = actors.filter(actor => actor.kind === 'human')
  const agents = actors.filter(actor => actor.kind === 'agent')
  return (
    <div className={cx(styles.filters, className)}>
      <FilterSelect label={t('chat')} value={search.chat ?? ''} onChange={id => change({ chat: id || undefined })}>
        <option value="">{t('search.allChats')}</option>
        {chats.map(({ chat }) => (
          <option key={chat.id} value={chat.id}>
            {chat.title}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect
        label={t('search.author')}
        value={search.author ?? search.kind ?? ''}
        onChange={value =>
          change(
            value === 'human' || value === 'agent'
              ? { kind: value, author: undefined }
              : { author: value || undefined, kind: undefined },
          )
        }
      >
        <option value="">{t('search.anyone')}</option>
        <option value="human">{t('search.people')}</option>
        <option value="agent">{t('search.agents')}</option>
        <Names label={t('people')} actors={people} />
        <Names label={t('agents')} actors={agents} />
      </FilterSelect>
      <Period search={search} onChange={change} />
      <Button
        aria-pressed={Boolean(search.file)}
        className={styles.file ?? ''}
        onClick={() => change({ file: search.file ? undefined : true })}
      >
        <Paperclip className="i s" aria-hidden />
        {t('search.hasFile')}
      </Button>
      <span className={styles.order}>
        <FilterSelect
          label={t('search.order')}
          value={search.order ?? 'best'}
          onChange={value => change({ order: value === 'newest' ? 'newest' : undefined })}
        >
          <option value="best">{t('search.best')}</option>
          <option value="newest">{t('search.newest')}</option>
        </FilterSelect>
      </span>
    </div>
  )
}

function Names({ label, actors }: { label: string; actors: readonly ActorRow[] }) {
  if (actors.length === 0) return null
  return (
    <optgroup label={label}>
      {actors.map(actor => (
        <option key={actor.id} value={actor.id}>
          {actor.name}
        </option>
      ))}
    </optgroup>
  )
}

/** The days: one of some periods until today, or two days. */
function Period({
  search: { starts, ends },
  onChange,
}: {
  search: MessageSearch
  onChange(change: SearchChange): void
}) {
  const { t } = useTexts()
  const [areDaysShown, setDaysShown] = useState(false)
  const period = ends ? undefined : PERIODS.find(days => starts === addDays(getToday(), -days))
  const value = areDaysShown || (!period && (starts || ends)) ? 'days' : (period ?? '')
  const choose = (chosen: string) => {
    setDaysShown(chosen === 'days')
    if (chosen !== 'days')
      onChange({ starts: chosen ? addDays(getToday(), -Number(chosen)) : undefined, ends: undefined })
  }
  return (
    <>
      <FilterSelect label={t('search.time')} value={String(value)} onChange={choose}>
        <option value="">{t('search.anyTime')}</option>
        {PERIODS.map(days => (
          <option key={days} value={days}>
            {t('search.lastDays', { n: days })}
          </option>
        ))}
        <option value="days">{t('search.days')}</option>
      </FilterSelect>
      {value === 'days' ? (
        <>
          <Day label={t('search.since')} value={starts} onChange={day => onChange({ starts: day })} />
          <Day label={t('search.until')} value={ends} onChange={day => onChange({ ends: day })} />
        </>
      ) : null}
    </>
  )
}

function Day({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange(day: string | undefined): void
}) {
  return (
    <input
      type="date"
      className={cx(fieldStyles.input, styles.day)}
      data-slot="input"
      aria-label={label}
      title={label}
      value={value ?? ''}
      onChange={event => onChange(event.target.value || undefined)}
    />
  )
}
