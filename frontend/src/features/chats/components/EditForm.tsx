import { Check, X, Zap } from 'lucide-react'
import {
  type ChangeEvent,
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { ActorRow, TextMessageRow } from '@/api'
import { isComposing } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { listMentions } from '@/lib/mentions'
import { formatList } from '@/lib/names'
import { sameItems } from '@/lib/sameItems'
import { type ChatState, useChatSelector } from '@/realtime'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import { replaceHandlesByNames } from '@/ui/prose/mentions'
import { changeOpenEdit, saveEdit } from '../editForm'
import { type OpenEdit, openEdit } from '../edits'
import { getMentionName, replaceNamesByHandles } from '../mention'
import { useMentionable, useMentionMenu } from '../mentionMenu'
import { useChat } from './ChatContext'
import styles from './Edits.module.css'
import { MentionList } from './MentionList'

/** The server's limit for the length of a message, in characters. */
const MAX_LENGTH = 200_000
const LIST_ID = 'edit-mentions'

const isTouch = () => matchMedia('(hover: none) and (pointer: coarse)').matches

/** Edits a message in its place. Enter saves, Escape cancels. */
export function EditForm({ row, edit }: { row: TextMessageRow; edit: OpenEdit }) {
  const { t } = useTexts()
  const { chatId, me } = useChat()
  const area = useRef<HTMLTextAreaElement>(null)
  const mentionable = useMentionable(chatId, me)
  const original = useMemo(() => nameMentions(row.payload.text, mentionable), [row.payload.text, mentionable])
  const text = edit.text ?? original
  const [caret, setCaret] = useState(text.length)
  const [isSaving, setSaving] = useState(false)
  const write = (next: string, at: number) => {
    changeOpenEdit({ text: next })
    setCaret(at)
    requestAnimationFrame(() => area.current?.setSelectionRange(at, at))
  }
  const mentions = useMentionMenu({ text, caret, mentionable, write })
  const outgoing = replaceNamesByHandles(text, mentionable).trim()
  const added = listAddedAgents(outgoing, row, mentionable)
  const woken = added.filter(({ id }) => !edit.unwoken.includes(id))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form is opened
  useEffect(() => {
    area.current?.focus()
    area.current?.setSelectionRange(text.length, text.length)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const box = area.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${box.scrollHeight + 2}px`
  }, [text])

  const close = () => {
    const message = area.current?.closest<HTMLElement>('[data-message]')
    openEdit.set(null)
    message?.focus({ preventScroll: true })
  }
  const save = async () => {
    if (isSaving || outgoing === '') return
    if (outgoing === row.payload.text) return close()
    const message = area.current?.closest<HTMLElement>('[data-message]')
    setSaving(true)
    await saveEdit(
      row,
      outgoing,
      woken.map(({ id }) => id),
    )
    setSaving(false)
    if (openEdit.get()?.id !== row.id) message?.focus({ preventScroll: true })
  }
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event) || mentions.onKey(event)) return
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && !event.shiftKey && (!isTouch() || event.ctrlKey || event.metaKey)) void save()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onChange = (event: ChangeEvent<HTMLTextAreaElement>) => {
    changeOpenEdit({ text: event.target.value, error: null })
    setCaret(event.target.selectionStart)
    mentions.resetSelection()
  }
  const isListOpen = mentions.options.length > 0
  return (
    <div className={styles.edit}>
      {isListOpen ? (
        <MentionList
          id={LIST_ID}
          actors={mentions.options}
          picked={mentions.picked}
          present={[]}
          onPick={mentions.pick}
        />
      ) : null}
      <textarea
        ref={area}
        className={fieldStyles.input}
        data-slot="input"
        rows={1}
        value={text}
        maxLength={MAX_LENGTH}
        aria-label={t('edits.label')}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isListOpen ? LIST_ID : undefined}
        aria-activedescendant={isListOpen ? `${LIST_ID}-${mentions.picked}` : undefined}
        onChange={onChange}
        onSelect={event => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKey}
      />
      {added.length > 0 ? <AddedAgents added={added} unwoken={edit.unwoken} /> : null}
      <AnsweredNote row={row} />
      {edit.error ? (
        <p className="no sm" role="alert">
          {t('edits.notSaved', { why: edit.error })}
        </p>
      ) : row.edited_at !== edit.editedAt ? (
        <p className="faint sm" role="status">
          {t('edits.elsewhere')}
        </p>
      ) : null}
      <div className={styles.buttons}>
        <Button
          size="xs"
          tone="ink"
          busy={isSaving ? t('edits.saving') : null}
          blocked={outgoing === ''}
          onClick={() => void save()}
        >
          <Check className="i s" aria-hidden />
          {t('edits.save')}
        </Button>
        <Button size="xs" tone="flat" onClick={close}>
          {t('cancel')}
        </Button>
        <span className="faint xs only-wide">
          <kbd className={blocks.key}>↵</kbd> {t('edits.keySave')} <kbd className={blocks.key}>Esc</kbd>{' '}
          {t('edits.keyCancel')}
        </span>
      </div>
    </div>
  )
}

/** The agents that the edit mentions and the earlier text did not. They are woken, unless they are taken out here. */
function AddedAgents({ added, unwoken }: { added: readonly ActorRow[]; unwoken: readonly string[] }) {
  const { t } = useTexts()
  const woken = added.filter(({ id }) => !unwoken.includes(id))
  return (
    <p className={styles.wakes} role="status">
      <Zap className="i s" aria-hidden />
      {woken.length === 0 ? t('edits.wakesNobody') : t('edits.wakes')}
      {woken.map(actor => (
        <span key={actor.id} className={styles.chip}>
          <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="tiny" />
          {actor.name}
          <button
            type="button"
            aria-label={t('edits.dontWake', { name: actor.name })}
            title={t('edits.dontWake', { name: actor.name })}
            onClick={() => changeOpenEdit({ unwoken: [...unwoken, actor.id] })}
          >
            <X className="i" aria-hidden />
          </button>
        </span>
      ))}
    </p>
  )
}

/** Says which agents have answered the message: an edit does not make them answer again. */
function AnsweredNote({ row }: { row: TextMessageRow }) {
  const { t } = useTexts()
  const { chatId, findActor } = useChat()
  const select = useCallback((chat: ChatState) => listAnswerers(chat, row.id), [row.id])
  const names = useChatSelector(chatId, select, sameItems).map(id => findActor(id)?.name ?? t('agent'))
  if (names.length === 0) return null
  return <p className="faint xs">{t('edits.hasAnswered', { count: names.length, names: formatList(names) })}</p>
}

const listAnswerers = ({ log }: ChatState, id: string): string[] => {
  const answers = log.filter(
    ({ type, payload }) =>
      type === 'TEXT_MESSAGE' &&
      !payload.is_deleted &&
      (payload.answers === id || Boolean(payload.answered_ids?.includes(id))),
  )
  return [...new Set(answers.flatMap(({ author_id: author }) => author ?? []))]
}

/** Returns the text with the names of those who are mentioned, as it is written in a form. */
function nameMentions(text: string, mentionable: readonly ActorRow[]): string {
  const byHandle = new Map(mentionable.map(actor => [actor.handle, actor]))
  return replaceHandlesByNames(text, handle => {
    const actor = byHandle.get(handle)
    return actor ? { name: getMentionName(mentionable, actor), isMe: false } : null
  })
}

/** Returns the agents that a text mentions and the stored text does not. */
function listAddedAgents(text: string, row: TextMessageRow, mentionable: readonly ActorRow[]): ActorRow[] {
  const handles = new Set(listMentions(text).map(({ handle }) => handle))
  return mentionable.filter(
    ({ id, kind, handle }) => kind === 'agent' && handles.has(handle) && !row.payload.mentions?.includes(id),
  )
}
