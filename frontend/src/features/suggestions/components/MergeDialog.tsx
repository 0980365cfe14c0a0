import { useQueryClient } from '@tanstack/react-query'
import { Hash, MessageSquarePlus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  type ActorRow,
  createChat,
  type DraftRow,
  keys,
  type ListedChatRow,
  type ListedSuggestionRow,
  type MergeRow,
  startMerge,
  useChatDraft,
  useChats,
} from '@/api'
import { findOtherDraft, type OtherDraft, releaseOtherDraft } from '@/features/agents'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatTime, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import fieldStyles from '@/ui/Field.module.css'
import { getTitle } from '../wording'
import suggestionsStyles from './Suggestions.module.css'

interface MergeDialogProps {
  workspaceId: string
  /** Suggestions for one agent. A single one is accepted: it is merged alone. */
  rows: readonly ListedSuggestionRow[]
  me: ActorRow
  findActor(id: string): ActorRow | null
  onStarted(merge: MergeRow): void
  onOpenDraft(chatId: string, agentId: string): void
  onClose(): void
}

/** The value for a chat that will be created. */
const NEW_CHAT = 'new'

export function MergeDialog(props: MergeDialogProps) {
  const { t } = useTexts()
  const { rows } = props
  const [first] = rows
  if (!first) return null
  const { agent } = first
  const count = rows.length
  const title = count === 1 ? t('acceptNamed', { title: getTitle(first, t) }) : t('mergeTitle', { count })
  return (
    <Dialog open onOpenChange={props.onClose} title={title} description={t('acceptLead', { agent: agent.name })}>
      <MergeForm {...props} agent={agent} />
    </Dialog>
  )
}

/** Returns the reader's chats with this agent, first those in which the suggestions were made. */
function useChatsWithAgent(
  workspaceId: string,
  agentId: string,
  rows: readonly ListedSuggestionRow[],
): ListedChatRow[] | undefined {
  const chats = useChats(workspaceId).data
  const origins = new Set(rows.map(row => row.chat_id))
  return chats
    ?.filter(row => !row.chat.ended && row.participants.some(participant => participant.id === agentId))
    .sort((a, b) => Number(origins.has(b.chat.id)) - Number(origins.has(a.chat.id)))
}

/** Holds the chosen chat and reads its draft, which may be locked by another person. */
function useChosenChat(chats: ListedChatRow[] | undefined, agentId: string, me: ActorRow) {
  const [chosen, setChosen] = useState<string | null>(null)
  const chatId = chosen ?? chats?.[0]?.chat.id ?? NEW_CHAT
  const draft = useChatDraft(chatId === NEW_CHAT ? null : chatId, agentId).data ?? null
  const isHeldByOther = Boolean(draft?.lock_holder_id) && draft?.lock_holder_id !== me.id
  return { chatId, setChosen, draft, isLocked: isHeldByOther && isFuture(draft?.lock_expires_at) }
}

function MergeForm({
  workspaceId,
  rows,
  me,
  findActor,
  agent,
  onStarted,
  onOpenDraft,
  onClose,
}: MergeDialogProps & { agent: ActorRow }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const chats = useChatsWithAgent(workspaceId, agent.id, rows)
  const [mergeId] = useState(newId) // one for this dialog, so that a repeated request starts one merge
  const { chatId, setChosen, draft, isLocked } = useChosenChat(chats, agent.id, me)
  const { busy, error, run } = useAsyncAction()

  const ensureChat = async () => {
    if (chatId !== NEW_CHAT) return chatId
    const made = await createChat(workspaceId, { title: agent.name, actor_ids: [agent.id] })
    setChosen(made.chat.id)
    await client.invalidateQueries({ queryKey: keys.chats(workspaceId) })
    return made.chat.id
  }
  const other = findOtherDraft(error)
  const start = (draftToClose: OtherDraft | null) => {
    if (isLocked || !chats) return
    void run(async () => {
      if (draftToClose) await releaseOtherDraft(draftToClose)
      const suggestionIds = rows.map(row => row.id)
      try {
        onStarted(await startMerge({ id: mergeId, agentId: agent.id, suggestionIds, chatId: await ensureChat() }))
      } finally {
        void client.invalidateQueries({ queryKey: keys.suggestions(workspaceId) })
      }
    })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start(null)
  }
  return (
    <form className="col gap" onSubmit={submit}>
      <ChatChoices chats={chats ?? []} rows={rows} agent={agent} chatId={chatId} onChoose={setChosen} />
      {chats?.length === 0 ? <p className="muted sm">{t('noChatYet', { agent: agent.name })}</p> : null}
      {draft ? (
        <ExistingDraftNotice
          draft={draft}
          isLocked={isLocked}
          isMine={draft.lock_holder_id === me.id}
          findActor={findActor}
        />
      ) : null}
      {error ? (
        <div className={cx(blocks.banner, blocks.bad)} role="alert">
          <span className="grow">
            <StartError error={error} />
          </span>
          {other ? (
            <>
              <Button size="xs" onClick={() => onOpenDraft(other.chatId, other.agentId)}>
                {t('goThere')}
              </Button>
              <Button size="xs" onClick={() => start(other)}>
                {t(rows.length === 1 ? 'closeAndAccept' : 'closeAndMerge')}
              </Button>
            </>
          ) : null}
        </div>
      ) : null}
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button tone="violet" type="submit" blocked={isLocked || !chats} busy={busy ? t('startingMerge') : null}>
          {t(rows.length === 1 ? 'accept' : 'merge')}
        </Button>
      </div>
    </form>
  )
}

interface ChatChoicesProps {
  chats: readonly ListedChatRow[]
  rows: readonly ListedSuggestionRow[]
  agent: ActorRow
  chatId: string
  onChoose(id: string): void
}

function ChatChoices({ chats, rows, agent, chatId, onChoose }: ChatChoicesProps) {
  const { t } = useTexts()
  const origins = new Set(rows.map(row => row.chat_id))
  const all = [
    ...chats.map(({ chat }) => ({ id: chat.id, title: chat.title, note: origins.has(chat.id) ? t('itsChat') : null })),
    { id: NEW_CHAT, title: t('inNewChat', { agent: agent.name }), note: null },
  ]
  return (
    <fieldset className={suggestionsStyles.chatchoices}>
      <legend className={fieldStyles.label}>{t('whichChat')}</legend>
      {all.map(({ id, title, note }) => (
        <ChatChoice
          key={id}
          value={id}
          isChosen={id === chatId}
          onChoose={() => onChoose(id)}
          title={title}
          note={note}
        />
      ))}
    </fieldset>
  )
}

interface ExistingDraftNoticeProps {
  draft: DraftRow
  /** Whether another person holds the lock. */
  isLocked: boolean
  isMine: boolean
  findActor(id: string): ActorRow | null
}

function ExistingDraftNotice({ draft, isLocked, isMine, findActor }: ExistingDraftNoticeProps) {
  const { t } = useTexts()
  const name = findActor(draft.lock_holder_id ?? '')?.name ?? t('unknownPerson')
  return (
    <p className={blocks.banner} role="status">
      {isLocked
        ? t('lockedThere', { name, time: formatTime(draft.lock_expires_at ?? '') })
        : t(isMine ? 'yourDraftThere' : 'draftThere')}
    </p>
  )
}

interface ChatChoiceProps {
  value: string
  isChosen: boolean
  title: string
  note: string | null
  onChoose(): void
}

function ChatChoice({ value, isChosen, title, note, onChoose }: ChatChoiceProps) {
  const Icon = value === NEW_CHAT ? MessageSquarePlus : Hash
  return (
    <label className={suggestionsStyles.chatchoice}>
      <input type="radio" name="chat" value={value} checked={isChosen} onChange={onChoose} />
      <Icon className="i s" aria-hidden />
      <span className="cut grow">{title}</span>
      {note ? <span className="faint xs">{note}</span> : null}
    </label>
  )
}

/** Why the merge could not be started; names the other draft if the reader still edits one. */
function StartError({ error }: { error: unknown }) {
  const { t } = useTexts()
  const other = findOtherDraft(error)
  return other ? t('writingElsewhereMerge', { agent: other.agentName, chat: other.chatTitle }) : getErrorText(error)
}
