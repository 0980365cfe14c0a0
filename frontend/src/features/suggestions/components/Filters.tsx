import { useAgents, useMembers, useSuggestionCount } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { FilterSelect } from '@/ui/FilterSelect'
import { Segments } from '@/ui/Segments'
import { type SuggestionSearch, states } from '../search'
import suggestionsStyles from './Suggestions.module.css'

interface FiltersProps {
  workspaceId: string
  search: SuggestionSearch
  onSearch(change: Partial<Record<keyof SuggestionSearch, string | undefined>>): void
  className: string
}

/** The filters of the list: state, agent and author. */
export function Filters({ workspaceId, search, onSearch, className }: FiltersProps) {
  const { t } = useTexts()
  const agents = useAgents(workspaceId).data ?? []
  const people = useMembers(workspaceId).data ?? []
  const pending = useSuggestionCount(workspaceId).data?.pending ?? 0
  const state = search.state ?? 'pending'
  return (
    <div className={cx(suggestionsStyles.filters, className)}>
      <Segments
        label={t('suggestions')}
        value={state}
        options={states.map(value => ({
          value,
          label: (
            <>
              {t(`suggested.${value}`)}
              {value === 'pending' && pending > 0 ? (
                <span className="num">{pending > 99 ? '99+' : pending}</span>
              ) : null}
            </>
          ),
        }))}
        onChange={value => onSearch({ state: value === 'pending' ? undefined : value })}
      />
      <Choice
        label={t('byAgent')}
        allLabel={t('allAgents')}
        value={search.agent}
        options={agents.map(row => row.actor)}
        onChange={agent => onSearch({ agent })}
      />
      <Choice
        label={t('byAuthor')}
        allLabel={t('everyAuthor')}
        value={search.author}
        options={people.map(row => row.actor)}
        onChange={author => onSearch({ author })}
      />
    </div>
  )
}

interface ChoiceProps {
  label: string
  allLabel: string
  value: string | undefined
  options: readonly { id: string; name: string }[]
  onChange(id: string | undefined): void
}

function Choice({ label, allLabel, value, options, onChange }: ChoiceProps) {
  return (
    <FilterSelect label={label} value={value ?? ''} onChange={id => onChange(id || undefined)}>
      <option value="">{allLabel}</option>
      {options.map(option => (
        <option key={option.id} value={option.id}>
          {option.name}
        </option>
      ))}
    </FilterSelect>
  )
}
