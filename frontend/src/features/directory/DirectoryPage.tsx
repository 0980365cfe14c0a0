import { Library, Upload } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useAgents, useDirectory, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { publicAgentPath, publishPath } from '@/lib/paths'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { EmptyState } from '@/ui/EmptyState'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { Menu, MenuItem } from '@/ui/Menu'
import { PathLink } from '@/ui/PathLink'
import { Segments } from '@/ui/Segments'
import { AgentCard, toCardFacts } from './AgentCard'
import styles from './Directory.module.css'
import { languageTags, nameLanguage } from './languages'
import { categories, type DirectorySearch, type SearchChange, scopes, sorts } from './search'

interface DirectoryPageProps {
  workspace: WorkspaceRow
  /** The query and the filters, which the URL holds. */
  search: DirectorySearch
  onSearch(change: SearchChange): void
  onGo(path: string): void
}

/** The public agents of all workspaces. */
export function DirectoryPage({ workspace, search, onSearch, onGo }: DirectoryPageProps) {
  const { t } = useTexts()
  const [text, setText] = useState(search.q ?? '')
  const query = useDirectory(workspace.id, {
    query: useDeferredValue(text.trim()),
    category: search.category ?? null,
    language: search.language ?? null,
    sort: search.sort ?? 'use',
    scope: search.scope ?? 'all',
  })
  const isFiltered = Boolean(text || search.category || search.language || search.scope)
  const clear = () => {
    setText('')
    onSearch({ q: undefined, category: undefined, language: undefined, scope: undefined })
  }
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <h1>{t('directory')}</h1>
        <span className="faint sm only-wide">{t('directory.lead')}</span>
        <span className="end">
          <PublishMenu workspace={workspace} onGo={onGo} />
        </span>
      </header>
      <div className={layout.page} data-pane="list">
        <div className={cx(layout.pad, styles.list)}>
          <div className={styles.filters}>
            <SearchInput
              label={t('directory.search')}
              className={styles.search}
              value={text}
              onChange={text => {
                setText(text)
                onSearch({ q: text })
              }}
            />
            <Segments
              label={t('directory.scope')}
              value={search.scope ?? 'all'}
              options={scopes.map(value => ({ value, label: t(`directory.scope.${value}`) }))}
              onChange={scope => onSearch({ scope })}
            />
          </div>
          <Choices search={search} onSearch={onSearch} />
          <Results query={query} isFiltered={isFiltered} workspace={workspace} onClear={clear} onGo={onGo} />
        </div>
      </div>
    </main>
  )
}

interface ResultsProps extends Pick<DirectoryPageProps, 'workspace' | 'onGo'> {
  query: ReturnType<typeof useDirectory>
  /** Whether a query or a filter leaves some agents out. */
  isFiltered: boolean
  onClear(): void
}

/** The cards of the agents that were found. */
function Results({ query, isFiltered, workspace, onClear, onGo }: ResultsProps) {
  const { t } = useTexts()
  const rows = query.data?.pages.flatMap(page => page.results)
  if (rows === undefined) return <Loading query={query} lines={8} />
  if (rows.length === 0)
    return (
      <EmptyState
        icon={Library}
        title={t(isFiltered ? 'directory.noMatch' : 'directory.none')}
        actions={isFiltered ? <Button onClick={onClear}>{t('directory.clear')}</Button> : null}
      >
        {t(isFiltered ? 'directory.noMatchHint' : 'directory.noneHint')}
      </EmptyState>
    )
  return (
    <>
      <ul className={styles.cards} aria-busy={query.isPlaceholderData || undefined}>
        {rows.map(row => (
          <li key={row.actor.id}>
            <PathLink
              className={cx(blocks.card, styles.card)}
              path={publicAgentPath(workspace.handle, row.actor.handle)}
              onGo={onGo}
            >
              <AgentCard facts={toCardFacts(row, t)} />
            </PathLink>
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <Button busy={query.isFetchingNextPage ? t('loading') : null} onClick={() => void query.fetchNextPage()}>
          {t('directory.more')}
        </Button>
      ) : null}
    </>
  )
}

/** The category, the language and the order of the list. */
function Choices({ search, onSearch }: Pick<DirectoryPageProps, 'search' | 'onSearch'>) {
  const { t } = useTexts()
  const { category, language, sort } = search
  const isOther = language !== undefined && !languageTags.some(tag => tag === language)
  return (
    <div className={styles.choices}>
      <select
        className={fieldStyles.select}
        aria-label={t('directory.category')}
        value={category ?? ''}
        onChange={event => onSearch({ category: event.target.value })}
      >
        <option value="">{t('directory.category.all')}</option>
        {categories.map(value => (
          <option key={value} value={value}>
            {t(`directory.category.${value}`)}
          </option>
        ))}
      </select>
      <select
        className={fieldStyles.select}
        aria-label={t('directory.language')}
        value={language ?? ''}
        onChange={event => onSearch({ language: event.target.value })}
      >
        <option value="">{t('directory.language.all')}</option>
        {[...languageTags, ...(isOther ? [language] : [])].map(tag => (
          <option key={tag} value={tag}>
            {nameLanguage(tag)}
          </option>
        ))}
      </select>
      <select
        className={fieldStyles.select}
        aria-label={t('directory.sort')}
        value={sort ?? 'use'}
        onChange={event => onSearch({ sort: event.target.value })}
      >
        {sorts.map(value => (
          <option key={value} value={value}>
            {t(`directory.sort.${value}`)}
          </option>
        ))}
      </select>
    </div>
  )
}

/** The menu of the agents that the reader may publish. */
function PublishMenu({ workspace, onGo }: Pick<DirectoryPageProps, 'workspace' | 'onGo'>) {
  const { t } = useTexts()
  const agents = (useAgents(workspace.id).data ?? []).filter(row => row.verbs.includes('publish_agent'))
  if (agents.length === 0) return null
  return (
    <Menu
      align="end"
      label={t('publish.choose')}
      trigger={
        <Button>
          <Upload className="i s" aria-hidden />
          {t('publish.choose')}
        </Button>
      }
    >
      {agents.map(({ actor }) => (
        <MenuItem key={actor.id} onSelect={() => onGo(publishPath(workspace.handle, actor.id))}>
          <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square />
          {actor.name}
        </MenuItem>
      ))}
    </Menu>
  )
}
