import { ArrowLeft, GitPullRequestArrow } from 'lucide-react'
import { useState } from 'react'
import { type ActorRow, type ListedSuggestionRow, type MergeRow, useAgents, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import layout from '@/ui/layout.module.css'
import { showToast } from '@/ui/toast'
import { useIsPhone } from '@/ui/useIsPhone'
import type { SuggestionSearch } from '../search'
import type { Selection } from '../selection'
import { RejectDialog, WithdrawDialog } from './DecideDialogs'
import { Filters } from './Filters'
import { MergeDialog } from './MergeDialog'
import { MergeView } from './MergeView'
import { SuggestionDetail } from './SuggestionDetail'
import { SuggestionList, useFilteredSuggestions } from './SuggestionList'

interface SuggestionsPageProps {
  workspace: WorkspaceRow
  me: ActorRow
  search: SuggestionSearch
  findActor(id: string): ActorRow | null
  onSearch(change: Partial<Record<keyof SuggestionSearch, string | undefined>>): void
  onOpenDraft(chatId: string, agentId: string): void
  onChat(chatId: string): void
}

type OpenDialog =
  | { kind: 'merge' | 'reject'; rows: readonly ListedSuggestionRow[] }
  | { kind: 'withdraw'; row: ListedSuggestionRow }

const emptySelection: Selection = new Set()

/** Returns the first suggestion that the list had with its current filter: it stays the same when others are added or decided. */
function useFirstSuggestion({ state, agent, author }: SuggestionSearch, rows: readonly ListedSuggestionRow[]) {
  const filter = JSON.stringify([state, agent, author])
  const [first, setFirst] = useState({ filter, id: rows[0]?.id })
  if (first.filter !== filter || (!first.id && rows[0])) setFirst({ filter, id: rows[0]?.id })
  return first.id
}

/** The suggestions of a workspace: the list, and beside it the open suggestion or merge. */
export function SuggestionsPage({
  workspace,
  me,
  search,
  findActor,
  onSearch,
  onOpenDraft,
  onChat,
}: SuggestionsPageProps) {
  const { t } = useTexts()
  const isPhone = useIsPhone()
  const { rows } = useFilteredSuggestions(workspace.id, search)
  const [picked, setPicked] = useState<Selection>(emptySelection)
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const first = useFirstSuggestion(search, rows)
  // `m` is the open merge, `s` the open suggestion. A wide screen shows the first one until another one is opened.
  const open = search.m ? undefined : (search.s ?? (isPhone ? undefined : first))
  const close = () => setDialog(null)

  const handleStarted = (merge: MergeRow) => {
    close()
    setPicked(emptySelection)
    // A single suggestion made on current production was copied into a draft: there is no merge to look at.
    if (merge.method === 'copied' && merge.state === 'done' && merge.chat_id) {
      showToast(t('acceptedOpen'))
      onOpenDraft(merge.chat_id, merge.agent_id)
    } else onSearch({ m: merge.id, s: undefined })
  }
  const filters = { workspaceId: workspace.id, search, onSearch }
  const isDetail = Boolean(search.m || search.s)
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        {isDetail ? (
          <IconButton
            className="only-phone"
            label={t('allSuggestions')}
            onClick={() => onSearch({ s: undefined, m: undefined })}
          >
            <ArrowLeft className="i" />
          </IconButton>
        ) : null}
        <h1>{t('suggestions')}</h1>
        <Filters {...filters} className="end only-wide" />
      </header>
      {isDetail ? null : <Filters {...filters} className="only-phone" />}
      <div
        data-pane="list"
        className={cx(layout.split, !(search.m || open) && rows.length === 0 && layout.alone)}
        data-view={isDetail ? 'detail' : undefined}
      >
        <SuggestionList
          workspaceId={workspace.id}
          search={search}
          open={open}
          picked={picked}
          onPicked={setPicked}
          onSearch={onSearch}
          onMerge={rows => setDialog({ kind: 'merge', rows })}
          onReject={rows => setDialog({ kind: 'reject', rows })}
        />
        <div className={layout.opened}>
          <DetailPane
            {...{ workspace, me, search, findActor, onSearch, onOpenDraft, onChat }}
            openDialog={setDialog}
            open={open}
            isEmpty={rows.length === 0}
          />
        </div>
      </div>
      {dialog ? (
        <Dialogs {...{ workspace, me, findActor, dialog, onOpenDraft }} onStarted={handleStarted} onClose={close} />
      ) : null}
    </main>
  )
}

type DetailPaneProps = SuggestionsPageProps & {
  open: string | undefined
  isEmpty: boolean
  openDialog(dialog: OpenDialog): void
}

/** The pane beside the list: a merge, a suggestion, or a hint. */
function DetailPane({
  workspace,
  me,
  search,
  findActor,
  open,
  isEmpty,
  openDialog,
  onSearch,
  onOpenDraft,
  onChat,
}: DetailPaneProps) {
  const { t } = useTexts()
  const agents = useAgents(workspace.id).data
  const canReview = (id: string) => Boolean(agents?.find(row => row.actor.id === id)?.verbs.includes('review_agent'))
  if (search.m)
    return (
      <MergeView
        key={search.m}
        workspaceId={workspace.id}
        id={search.m}
        findActor={findActor}
        me={me}
        canReview={canReview}
        onOpenDraft={onOpenDraft}
        onSuggestion={s => onSearch({ s, m: undefined })}
      />
    )
  if (open)
    return (
      <SuggestionDetail
        key={open}
        workspaceId={workspace.id}
        id={open}
        onAccept={row => openDialog({ kind: 'merge', rows: [row] })}
        onReject={row => openDialog({ kind: 'reject', rows: [row] })}
        onWithdraw={row => openDialog({ kind: 'withdraw', row })}
        onMerge={m => onSearch({ m, s: undefined })}
        onChat={onChat}
      />
    )
  if (isEmpty) return null
  return (
    <EmptyState icon={GitPullRequestArrow} title={t('chooseSuggestion')}>
      {t('chooseHint')}
    </EmptyState>
  )
}

interface DialogsProps extends Pick<SuggestionsPageProps, 'workspace' | 'me' | 'findActor' | 'onOpenDraft'> {
  dialog: OpenDialog
  onStarted(merge: MergeRow): void
  onClose(): void
}

function Dialogs({ workspace: { id }, me, findActor, dialog, onStarted, onOpenDraft, onClose }: DialogsProps) {
  if (dialog.kind === 'withdraw') return <WithdrawDialog workspaceId={id} row={dialog.row} onClose={onClose} />
  if (dialog.kind === 'reject') return <RejectDialog workspaceId={id} rows={dialog.rows} onClose={onClose} />
  return (
    <MergeDialog
      workspaceId={id}
      rows={dialog.rows}
      me={me}
      findActor={findActor}
      onStarted={onStarted}
      onOpenDraft={onOpenDraft}
      onClose={onClose}
    />
  )
}
