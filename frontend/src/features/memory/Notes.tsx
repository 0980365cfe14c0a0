import { Hash, NotebookPen, Pencil, Plus, Trash2 } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { type MemoryRow, type NoteRow, type NotesFilter, useMemoryActions, useNotes } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatRelative, formatShortDate } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { EmptyState } from '@/ui/EmptyState'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { Segments } from '@/ui/Segments'
import { showToast } from '@/ui/toast'
import styles from './Memory.module.css'
import type { MemoryPageProps } from './MemoryPage'
import { NoteEditor } from './NoteEditor'

const NO_FILTER: NotesFilter = { q: '', which: 'all', chatId: null }

/** The notes of an agent: found by words, written, changed in place, and forgotten. */
export function Notes({ agent, workspaceId, chats, memory, onOpenChat }: MemoryPageProps & { memory: MemoryRow }) {
  const { t } = useTexts()
  const { actor } = agent
  const [filter, setFilter] = useState(NO_FILTER)
  const q = useDeferredValue(filter.q)
  const query = useNotes(workspaceId, actor.id, { ...filter, q })
  const actions = useMemoryActions(workspaceId, actor.id)
  const [editing, setEditing] = useState<string | null>(null)
  const notes = query.data?.pages.flatMap(page => page.results) ?? []
  const isFiltered = filter.q !== '' || filter.which !== 'all' || filter.chatId !== null
  const forget = async (note: NoteRow) => {
    try {
      await actions.forgetNote(note)
    } catch (error) {
      showToast(getErrorText(error))
      return
    }
    showToast(t('memory.forgot', { name: actor.name, text: note.text.slice(0, 60) }), {
      label: t('memory.undo'),
      run: () => void actions.restoreNote(note.id).catch((error: unknown) => showToast(getErrorText(error))),
    })
  }
  return (
    <section className={blocks.sec}>
      <h2 className={cx(blocks.h, styles.head)}>
        {t('memory.notes')}
        <span className="faint xs regular only-wide">{t('memory.notesAbout')}</span>
        <span className="end row">
          <SearchInput label={t('memory.find')} value={filter.q} onChange={text => setFilter({ ...filter, q: text })} />
          {memory.can_edit ? (
            <Button size="xs" onClick={() => setEditing('new')}>
              <Plus className="i s" aria-hidden />
              {t('memory.add')}
            </Button>
          ) : null}
        </span>
      </h2>
      <div className={styles.filters}>
        <Segments
          label={t('memory.filter')}
          value={filter.which}
          options={[
            { value: 'all', label: t('memory.all') },
            { value: 'people', label: t('memory.byPeople') },
            { value: 'never_used', label: t('memory.neverUsed') },
          ]}
          onChange={which => setFilter({ ...filter, which })}
        />
        <select
          className={cx(fieldStyles.input, fieldStyles.select)}
          aria-label={t('memory.ofChat')}
          value={filter.chatId ?? ''}
          onChange={event => setFilter({ ...filter, chatId: event.target.value || null })}
        >
          <option value="">{t('memory.everyChat')}</option>
          {chats.map(chat => (
            <option key={chat.id} value={chat.id}>
              {chat.title}
            </option>
          ))}
        </select>
      </div>
      <ul className={styles.notes}>
        {editing === 'new' ? (
          <NoteEditor
            note={null}
            chats={chats}
            onSave={(text, _, chatId) => actions.createNote(text, chatId)}
            onClose={() => setEditing(null)}
          />
        ) : null}
        {notes.map(note =>
          editing === note.id ? (
            <NoteEditor
              key={note.id}
              note={note}
              chats={chats}
              onSave={(text, scope, _, stored) => actions.editNote(stored ?? note, { text, scope })}
              onClose={() => setEditing(null)}
            />
          ) : (
            <NoteItem
              key={note.id}
              note={note}
              canEdit={memory.can_edit}
              onEdit={() => setEditing(note.id)}
              onForget={() => void forget(note)}
              onOpenChat={onOpenChat}
            />
          ),
        )}
      </ul>
      {query.data ? null : <Loading query={query} lines={4} />}
      {query.data && notes.length === 0 && editing === null ? (
        <NoNotes isFiltered={isFiltered} onClear={() => setFilter(NO_FILTER)} />
      ) : null}
      {query.hasNextPage || memory.hidden_notes > 0 ? (
        <div className={cx(styles.foot, 'row')}>
          {query.hasNextPage ? (
            <button type="button" className="link" onClick={() => void query.fetchNextPage()}>
              {t('memory.more')}
            </button>
          ) : null}
          {memory.hidden_notes > 0 ? (
            <span className="faint xs">{t('memory.hiddenNotes', { count: memory.hidden_notes })}</span>
          ) : null}
        </div>
      ) : null}
    </section>
  )
}

function NoNotes({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  const { t } = useTexts()
  if (!isFiltered)
    return (
      <EmptyState icon={NotebookPen} title={t('memory.noNotes')}>
        {t('memory.noNotesHint')}
      </EmptyState>
    )
  const clear = <Button onClick={onClear}>{t('memory.clearFilters')}</Button>
  return <EmptyState icon={NotebookPen} title={t('memory.noMatch')} actions={clear} />
}

interface NoteItemProps {
  note: NoteRow
  canEdit: boolean
  onEdit(): void
  onForget(): void
  onOpenChat(chatId: string, messageId?: string): void
}

function NoteItem({ note, canEdit, onEdit, onForget, onOpenChat }: NoteItemProps) {
  const { t } = useTexts()
  const { author, chat_id: chatId } = note
  return (
    <li>
      <span className={styles.text} lang={detectLanguage(note.text)}>
        {note.text}
      </span>
      <span className={styles.scope}>{t(note.scope === 'workspace' ? 'memory.everywhere' : 'memory.itsChat')}</span>
      {canEdit ? (
        <span className="row">
          <IconButton label={t('memory.edit')} onClick={onEdit}>
            <Pencil className="i s" />
          </IconButton>
          <IconButton label={t('memory.forget')} onClick={onForget}>
            <Trash2 className="i s" />
          </IconButton>
        </span>
      ) : (
        <span />
      )}
      <span className={styles.meta}>
        {author.kind === 'human' ? (
          <span>
            <Avatar id={author.id} name={author.name} avatar={author.avatar} square={false} size="tiny" />
            {t('memory.writtenBy', { name: author.name })}
          </span>
        ) : null}
        {chatId ? (
          <span>
            <Hash className="i s" aria-hidden />
            <button type="button" className="link" onClick={() => onOpenChat(chatId, note.message_id ?? undefined)}>
              {note.chat_title}
            </button>
          </span>
        ) : null}
        {note.on_behalf_of ? <span>{t('memory.workedFor', { name: note.on_behalf_of.name })}</span> : null}
        <span>{formatShortDate(note.created_at)}</span>
        <span>
          {note.last_used_at ? t('memory.used', { time: formatRelative(note.last_used_at) }) : t('memory.notUsed')}
        </span>
        {note.read_texts ? (
          <span>{t(note.read_texts === 'outside' ? 'memory.readOutside' : 'memory.readOthers')}</span>
        ) : null}
        {note.edited_by ? <span>{t('memory.editedBy', { name: note.edited_by.name })}</span> : null}
        {note.earlier_text && note.earlier_text !== note.text ? (
          <span className="cut">{t('memory.was', { text: note.earlier_text })}</span>
        ) : null}
      </span>
    </li>
  )
}
