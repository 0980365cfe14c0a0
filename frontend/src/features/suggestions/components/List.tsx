import { GitPullRequestArrow } from 'lucide-react'
import { useCallback, useMemo, useRef } from 'react'
import { type ListedSuggestionRow, useActiveMerges, useSuggestions } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Box } from '@/ui/Box'
import { Busy } from '@/ui/Busy'
import { Button } from '@/ui/Button'
import { Empty } from '@/ui/Empty'
import { Skeleton } from '@/ui/Skeleton'
import { useListKeys } from '../keys'
import {
  allPicked,
  chosenOf,
  isPickable,
  type Picked,
  toggled,
  toggledAll,
  whyNotMerge,
  whyNotReject,
} from '../picking'
import type { SuggestionSearch } from '../search'
import { Failed } from './Failed'
import { Line } from './Line'

interface ListProps {
  workspaceId: string
  search: SuggestionSearch
  open: string | undefined
  picked: Picked
  onPicked(picked: Picked): void
  onSearch(change: Partial<Record<keyof SuggestionSearch, string | undefined>>): void
  onMerge(rows: readonly ListedSuggestionRow[]): void
  onReject(rows: readonly ListedSuggestionRow[]): void
}

/** The rows that a filter shows, as far as they are read. */
export function useListed(workspaceId: string, { state = 'pending', agent, author }: SuggestionSearch) {
  const list = useSuggestions(workspaceId, { state, agentId: agent, authorId: author })
  const rows = useMemo(() => list.data?.pages.flatMap(page => page.results) ?? [], [list.data])
  return { list, rows }
}

export function List({ workspaceId, search, open, picked, onPicked, onSearch, onMerge, onReject }: ListProps) {
  const { t } = useTexts()
  const { list, rows } = useListed(workspaceId, search)
  const root = useRef<HTMLDivElement>(null)
  const pick = useCallback(
    (id: string) => {
      if (rows.some(row => row.id === id && isPickable(row))) onPicked(toggled(picked, id))
    },
    [rows, picked, onPicked],
  )
  useListKeys(root, pick)
  return (
    <div className="list" ref={root}>
      {rows.some(isPickable) ? (
        <Picking rows={rows} picked={picked} onPicked={onPicked} onMerge={onMerge} onReject={onReject} />
      ) : null}
      <UnderWay workspaceId={workspaceId} open={search.m} onOpen={m => onSearch({ m, s: undefined })} />
      {list.data ? (
        <ul aria-label={t('suggestions')}>
          {rows.map(row => (
            <Line
              key={row.id}
              row={row}
              isOpen={row.id === open}
              isPicked={picked.has(row.id)}
              showsAgent={!search.agent}
              onOpen={() => onSearch({ s: row.id, m: undefined })}
              onPick={() => pick(row.id)}
            />
          ))}
        </ul>
      ) : list.isError ? (
        <Failed text={t('listFailed')} error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Skeleton lines={6} label={t('loading')} />
      )}
      {list.data && rows.length === 0 ? <Nothing search={search} onSearch={onSearch} /> : null}
      {list.hasNextPage ? (
        <div className="row more">
          <Button busy={list.isFetchingNextPage ? t('loading') : null} onClick={() => void list.fetchNextPage()}>
            {t('moreSuggestions')}
          </Button>
          {list.isFetchNextPageError ? <span className="xs no">{textOfError(list.error)}</span> : null}
        </div>
      ) : null}
    </div>
  )
}

type PickingProps = Pick<ListProps, 'picked' | 'onPicked' | 'onMerge' | 'onReject'> & {
  rows: readonly ListedSuggestionRow[]
}

/** The line above the list: how many are picked, and what can be done with them. */
function Picking({ rows, picked, onPicked, onMerge, onReject }: PickingProps) {
  const { t } = useTexts()
  const all = allPicked(rows, picked)
  const chosen = chosenOf(rows, picked)
  const obstacle = whyNotMerge(chosen)
  const noReject = whyNotReject(chosen)
  return (
    <>
      <div className="tool">
        <Box checked={all} label={t('pickAll')} onChange={() => onPicked(toggledAll(rows, picked))} />
        <span className="grow" role="status">
          {chosen.length > 0 ? t('nPicked', { n: chosen.length, all: rows.length }) : t('pickSome')}
        </span>
        {chosen.length > 0 ? (
          <>
            <Button size="xs" tone="bad" blocked={noReject ? t(noReject) : false} onClick={() => onReject(chosen)}>
              {t('rejectDots')}
            </Button>
            <Button size="xs" tone="suggest" blocked={obstacle ? t(obstacle) : false} onClick={() => onMerge(chosen)}>
              {t('mergeN', { count: chosen.length })}
            </Button>
          </>
        ) : null}
      </div>
      {chosen.length > 0 && obstacle ? (
        <p className="why" role="status">
          {t(obstacle)}
        </p>
      ) : null}
    </>
  )
}

/** Merges that go on, so that whoever left one finds it again. */
function UnderWay({
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
      className="underway"
      data-layer="suggestion"
      aria-current={merge.id === open || undefined}
      onClick={() => onOpen(merge.id)}
    >
      <Busy />
      <span className="grow">{t('mergingN', { count: merge.suggestion_ids.length })}</span>
      <span className="faint">{merge.by.name}</span>
    </button>
  ))
}

function Nothing({ search, onSearch }: Pick<ListProps, 'search' | 'onSearch'>) {
  const { t } = useTexts()
  const isFiltered = Boolean(search.agent || search.author)
  const state = search.state ?? 'pending'
  return (
    <Empty
      icon={GitPullRequestArrow}
      title={t(`none.${state}`)}
      actions={
        isFiltered ? (
          <Button onClick={() => onSearch({ agent: undefined, author: undefined })}>{t('showAll')}</Button>
        ) : null
      }
    >
      {isFiltered ? t('noneFiltered') : state === 'pending' ? t('noneHint') : null}
    </Empty>
  )
}
