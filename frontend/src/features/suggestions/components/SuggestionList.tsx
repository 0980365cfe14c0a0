import { GitPullRequestArrow } from 'lucide-react'
import { useCallback, useMemo, useRef } from 'react'
import { type ListedSuggestionRow, useActiveMerges, useSuggestions } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { EmptyState } from '@/ui/EmptyState'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { Spinner } from '@/ui/Spinner'
import { useListActions } from '../listActions'
import type { SuggestionSearch } from '../search'
import {
  getMergeObstacle,
  getRejectObstacle,
  getSelectionState,
  isSelectable,
  listSelectedRows,
  type Selection,
  toggle,
  toggleAll,
} from '../selection'
import { SuggestionItem } from './SuggestionItem'
import suggestionsStyles from './Suggestions.module.css'

interface SuggestionListProps {
  workspaceId: string
  search: SuggestionSearch
  open: string | undefined
  picked: Selection
  onPicked(picked: Selection): void
  onSearch(change: Partial<Record<keyof SuggestionSearch, string | undefined>>): void
  onMerge(rows: readonly ListedSuggestionRow[]): void
  onReject(rows: readonly ListedSuggestionRow[]): void
}

/** Returns the loaded rows of a filter, and their query. */
export function useFilteredSuggestions(workspaceId: string, { state = 'pending', agent, author }: SuggestionSearch) {
  const list = useSuggestions(workspaceId, { state, agentId: agent, authorId: author })
  const rows = useMemo(() => list.data?.pages.flatMap(page => page.results) ?? [], [list.data])
  return { list, rows }
}

export function SuggestionList({
  workspaceId,
  search,
  open,
  picked,
  onPicked,
  onSearch,
  onMerge,
  onReject,
}: SuggestionListProps) {
  const { t } = useTexts()
  const { list, rows } = useFilteredSuggestions(workspaceId, search)
  const root = useRef<HTMLDivElement>(null)
  const togglePicked = useCallback(
    (id: string) => {
      if (rows.some(row => row.id === id && isSelectable(row))) onPicked(toggle(picked, id))
    },
    [rows, picked, onPicked],
  )
  useListActions(root, togglePicked)
  return (
    <div className={layout.list} ref={root}>
      {rows.some(isSelectable) ? (
        <BulkActions rows={rows} picked={picked} onPicked={onPicked} onMerge={onMerge} onReject={onReject} />
      ) : null}
      <ActiveMerges workspaceId={workspaceId} open={search.m} onOpen={m => onSearch({ m, s: undefined })} />
      {list.data ? (
        <ul aria-label={t('suggestions')}>
          {rows.map(row => (
            <SuggestionItem
              key={row.id}
              row={row}
              isOpen={row.id === open}
              isPicked={picked.has(row.id)}
              isAgentShown={!search.agent}
              onOpen={() => onSearch({ s: row.id, m: undefined })}
              onPick={() => togglePicked(row.id)}
            />
          ))}
        </ul>
      ) : list.isError ? (
        <LoadError text={t('listFailed')} error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Skeleton lines={6} label={t('loading')} />
      )}
      {list.data && rows.length === 0 ? <EmptyList search={search} onSearch={onSearch} /> : null}
      {list.hasNextPage ? (
        <div className={cx(layout.more, 'row')}>
          <Button busy={list.isFetchingNextPage ? t('loading') : null} onClick={() => void list.fetchNextPage()}>
            {t('moreSuggestions')}
          </Button>
          {list.isFetchNextPageError ? <span className="xs no">{getErrorText(list.error)}</span> : null}
        </div>
      ) : null}
    </div>
  )
}

type BulkActionsProps = Pick<SuggestionListProps, 'picked' | 'onPicked' | 'onMerge' | 'onReject'> & {
  rows: readonly ListedSuggestionRow[]
}

/** The bar above the list: the number of selected suggestions, and the actions on them. */
function BulkActions({ rows, picked, onPicked, onMerge, onReject }: BulkActionsProps) {
  const { t } = useTexts()
  const selectionState = getSelectionState(rows, picked)
  const chosen = listSelectedRows(rows, picked)
  const mergeObstacle = getMergeObstacle(chosen)
  const rejectObstacle = getRejectObstacle(chosen)
  return (
    <>
      <div className={layout.tool}>
        <Checkbox checked={selectionState} label={t('pickAll')} onChange={() => onPicked(toggleAll(rows, picked))} />
        <span className="grow" role="status">
          {chosen.length > 0 ? t('nPicked', { n: chosen.length, all: rows.length }) : t('pickSome')}
        </span>
        {chosen.length > 0 ? (
          <>
            <Button
              size="xs"
              tone="bad"
              blocked={rejectObstacle ? t(rejectObstacle) : false}
              onClick={() => onReject(chosen)}
            >
              {t('rejectDots')}
            </Button>
            <Button
              size="xs"
              tone="violet"
              blocked={mergeObstacle ? t(mergeObstacle) : false}
              onClick={() => onMerge(chosen)}
            >
              {t('mergeN', { count: chosen.length })}
            </Button>
          </>
        ) : null}
      </div>
      {chosen.length > 0 && mergeObstacle ? (
        <p className={suggestionsStyles.why} role="status">
          {t(mergeObstacle)}
        </p>
      ) : null}
    </>
  )
}

/** The active merges, so that a person who left one finds it again. */
function ActiveMerges({
  workspaceId,
  open,
  onOpen,
}: {
  workspaceId: string
  open: string | undefined
  onOpen(id: string): void
}) {
  const { t } = useTexts()
  const merges = useActiveMerges(workspaceId).data ?? []
  return merges.map(merge => (
    <button
      key={merge.id}
      type="button"
      className={suggestionsStyles.underway}
      data-layer="suggestion"
      aria-current={merge.id === open || undefined}
      onClick={() => onOpen(merge.id)}
    >
      <Spinner />
      <span className="grow">{t('mergingN', { count: merge.suggestion_ids.length })}</span>
      <span className="faint">{merge.by.name}</span>
    </button>
  ))
}

function EmptyList({ search, onSearch }: Pick<SuggestionListProps, 'search' | 'onSearch'>) {
  const { t } = useTexts()
  const isFiltered = Boolean(search.agent || search.author)
  const state = search.state ?? 'pending'
  return (
    <EmptyState
      icon={GitPullRequestArrow}
      title={t(`none.${state}`)}
      actions={
        isFiltered ? (
          <Button onClick={() => onSearch({ agent: undefined, author: undefined })}>{t('showAll')}</Button>
        ) : null
      }
    >
      {isFiltered ? t('noneFiltered') : state === 'pending' ? t('noneHint') : null}
    </EmptyState>
  )
}
