import { ArrowLeft, Paperclip, Search, SearchX } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { type ActorRow, type FoundMessage, type ListedChatRow, useFoundMessagePages, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatFullTime, formatShortDate } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button, IconButton } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import { SearchInput } from '@/ui/Field'
import { FoundText } from '@/ui/FoundText'
import { LoadError } from '@/ui/LoadError'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useIsPhone } from '@/ui/useIsPhone'
import { buildFilter, hasFilter, type Known, readTypedFilters } from '../filters'
import { isSearchable, type MessageSearch, type SearchChange } from '../search'
import { Filters } from './Filters'
import { Place } from './Place'
import styles from './Search.module.css'

const PAUSE_MS = 150
/** Hits after which the page offers no more: the search has to be narrowed. */
const MAX_HITS = 200

interface SearchPageProps {
  workspace: WorkspaceRow
  me: string
  search: MessageSearch
  chats: readonly ListedChatRow[]
  /** The members and the agents of the workspace. */
  actors: readonly ActorRow[]
  onSearch(change: SearchChange): void
  /** The path of a message in its chat, where the words are marked. */
  getPath(message: FoundMessage): string
  onGo(path: string): void
}

/** The search of messages: the words and filters, the hits, and beside them the open one in its place. */
export function SearchPage({ workspace, me, search, chats, actors, onSearch, getPath, onGo }: SearchPageProps) {
  const { t } = useTexts()
  const isPhone = useIsPhone()
  const { list, hits } = useHits(workspace.id, search)
  const open = findOpen(hits, search.m, isPhone)
  const isDetail = Boolean(search.m)
  const isMissing = isDetail && list.data !== undefined
  const known: Known = { me, actors, chats: chats.map(row => row.chat) }
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={cx(layout.bar, styles.bar)}>
        {isDetail ? (
          <IconButton className="only-phone" label={t('search.back')} onClick={() => onSearch({ m: undefined })}>
            <ArrowLeft className="i" />
          </IconButton>
        ) : null}
        <h1 className="sr">{t('search.title')}</h1>
        <Words q={search.q ?? ''} known={known} onSearch={onSearch} />
        <Count list={list} count={hits.length} />
      </header>
      <Filters className={cx(isDetail && styles.ofList)} {...{ search, chats, actors, onSearch }} />
      <div
        data-pane="list"
        className={cx(layout.split, styles.split, hits.length === 0 && layout.alone)}
        data-view={isDetail ? 'detail' : undefined}
      >
        <div className={layout.list}>
          {hits.length > 0 ? (
            <Hits hits={hits} open={open} actors={actors} onOpen={hit => onSearch({ m: hit.message_id })} />
          ) : (
            <NoHits list={list} search={search} onSearch={onSearch} />
          )}
          {hits.length > 0 ? <More list={list} count={hits.length} /> : null}
        </div>
        <div className={layout.opened}>
          {open ? (
            <Place
              key={open.message_id}
              hit={open}
              query={search.q ?? ''}
              chat={chats.find(row => row.chat.id === open.chat_id)}
              actors={actors}
              path={getPath(open)}
              onGo={onGo}
            />
          ) : isMissing ? (
            <EmptyState icon={SearchX} title={t('messageGone')} />
          ) : null}
        </div>
      </div>
    </main>
  )
}

/** Returns the hits of a search that are loaded, and their query. */
function useHits(workspaceId: string, search: MessageSearch) {
  const filter = buildFilter(search)
  const list = useFoundMessagePages(workspaceId, filter)
  return { list, hits: filter.q ? (list.data?.pages.flatMap(page => page.results) ?? []) : [] }
}

/** Returns the open hit; on a wide screen the first one ends another one is opened. */
function findOpen(hits: readonly FoundMessage[], id: string | undefined, isPhone: boolean): FoundMessage | undefined {
  if (id) return hits.find(hit => hit.message_id === id)
  return isPhone ? undefined : hits[0]
}

/** How many messages were found. */
function Count({ list, count }: { list: FoundList; count: number }) {
  const { t } = useTexts()
  const text = list.hasNextPage ? t('search.countMore', { n: count }) : t('search.count', { count })
  return (
    <span className={cx(styles.count, 'faint xs')} role="status">
      {list.data ? text : ''}
    </span>
  )
}

interface WordsProps {
  q: string
  known: Known
  onSearch(change: SearchChange): void
}

/** The field. What is typed is searched shortly after the last key; typed filters become those of the page. */
function Words({ q, known, onSearch }: WordsProps) {
  const { t } = useTexts()
  const [text, setText] = useState(q)
  const [searched, setSearched] = useState(q)
  const field = useRef<HTMLFormElement>(null)
  // The page was opened with other words, such as by the palette.
  if (q !== searched) {
    setSearched(q)
    setText(q)
  }
  const apply = (isEnded: boolean) => {
    const read = readTypedFilters(text, known, isEnded)
    const words = read.text.trim()
    if (words === q && Object.keys(read.change).length === 0) return
    setSearched(words)
    setText(read.text)
    onSearch({ ...read.change, q: words, m: undefined })
  }
  useEffect(() => {
    const timer = setTimeout(() => apply(false), PAUSE_MS)
    return () => clearTimeout(timer)
  })
  useEffect(() => field.current?.querySelector('input')?.focus(), [])
  return (
    <search className={styles.words}>
      <form
        ref={field}
        className={styles.form}
        onSubmit={event => {
          event.preventDefault()
          apply(true)
        }}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          document.querySelector<HTMLElement>('[data-hit]')?.focus()
        }}
      >
        <Search className="i" aria-hidden />
        <SearchInput label={t('search.title')} value={text} onChange={setText} className={styles.input ?? ''} />
      </form>
    </search>
  )
}

interface HitsProps {
  hits: readonly FoundMessage[]
  open: FoundMessage | undefined
  actors: readonly ActorRow[]
  onOpen(hit: FoundMessage): void
}

/** The hits. The arrow keys (or J and K), Home and End move between them. */
function Hits({ hits, open, actors, onOpen }: HitsProps) {
  const { t } = useTexts()
  const list = useRef<HTMLUListElement>(null)
  const move = (event: KeyboardEvent) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-hit]') ?? [])]
    const at = rows.indexOf(event.target as HTMLElement)
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      Home: 0,
      End: rows.length - 1,
    }
    const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    if (next < 0) document.querySelector<HTMLElement>('search input')?.focus()
    else rows[next]?.focus()
  }
  return (
    <ul ref={list} aria-label={t('search.hits')} onKeyDown={move}>
      {hits.map(hit => (
        <Hit key={hit.message_id} hit={hit} actors={actors} isOpen={hit === open} onOpen={() => onOpen(hit)} />
      ))}
    </ul>
  )
}

interface HitProps {
  hit: FoundMessage
  actors: readonly ActorRow[]
  isOpen: boolean
  onOpen(): void
}

function Hit({ hit, actors, isOpen, onOpen }: HitProps) {
  const author = actors.find(actor => actor.id === hit.author_id)
  return (
    <li>
      <button type="button" className={styles.hit} data-hit aria-current={isOpen || undefined} onClick={onOpen}>
        <Avatar id={hit.author_id ?? ''} name={hit.author} avatar={author?.avatar} square={author?.kind === 'agent'} />
        <span className="grow">
          <span className={styles.by}>
            <b>{hit.author}</b>
            <span className="cut faint">{hit.chat_title}</span>
            <time className="faint xs" dateTime={hit.created_at} title={formatFullTime(hit.created_at)}>
              {formatShortDate(hit.created_at)}
            </time>
          </span>
          <span className={styles.excerpt} lang={detectLanguage(hit.text)}>
            {hit.is_file ? <Paperclip className="i s" aria-hidden /> : null}
            <FoundText text={hit.text} marks={hit.marks ?? []} />
          </span>
        </span>
      </button>
    </li>
  )
}

type FoundList = ReturnType<typeof useFoundMessagePages>

/** What the page says instead of hits. */
function NoHits({
  list,
  search,
  onSearch,
}: {
  list: FoundList
  search: MessageSearch
  onSearch(change: SearchChange): void
}) {
  const { t } = useTexts()
  const q = search.q ?? ''
  if (!isSearchable(q))
    return (
      <EmptyState icon={Search} title={q ? t('search.tooShort') : t('search.empty')}>
        {t('search.hint')}
      </EmptyState>
    )
  if (list.isError)
    return <LoadError text={t('search.failed')} error={list.error} onRetry={() => void list.refetch()} />
  if (!list.data) return <Skeleton lines={6} label={t('loading')} />
  const everywhere = {
    chat: undefined,
    author: undefined,
    kind: undefined,
    starts: undefined,
    ends: undefined,
    file: undefined,
  }
  return (
    <EmptyState
      icon={SearchX}
      title={t('search.none', { words: q })}
      actions={
        hasFilter(search) ? <Button onClick={() => onSearch(everywhere)}>{t('search.withoutFilters')}</Button> : null
      }
    >
      {t('search.onlyYours')}
    </EmptyState>
  )
}

/** The end of the list: more hits, or that there are too many. */
function More({ list, count }: { list: FoundList; count: number }) {
  const { t } = useTexts()
  const isTooBroad = list.hasNextPage && count >= MAX_HITS
  return (
    <div className={cx(layout.more, styles.more, 'row')}>
      {isTooBroad ? <span className="muted sm">{t('search.tooBroad')}</span> : null}
      {list.hasNextPage && !isTooBroad ? (
        <Button busy={list.isFetchingNextPage ? t('loading') : null} onClick={() => void list.fetchNextPage()}>
          {t('search.more')}
        </Button>
      ) : null}
      {list.isFetchNextPageError ? <span className="xs no">{getErrorText(list.error)}</span> : null}
      <span className="faint xs">{t('search.onlyYours')}</span>
    </div>
  )
}
