import { type KeyboardEvent, useState } from 'react'
import type { NoteRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { isComposing } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import fieldStyles from '@/ui/Field.module.css'
import styles from './Memory.module.css'
import { findStoredNote } from './storedNote'

const MAX_NOTE = 1_000
const EVERYWHERE = 'everywhere'

interface NoteEditorProps {
  /** Null: a new note. */
  note: NoteRow | null
  chats: readonly { id: string; title: string }[]
  /** `stored`: the note as another person has changed it meanwhile, which is to be replaced. */
  onSave(text: string, scope: NoteRow['scope'], chatId: string | null, stored: NoteRow | null): Promise<unknown>
  onClose(): void
}

/** Writes or changes a note in place of its row. The text stays when it cannot be saved. */
export function NoteEditor({ note, chats, onSave, onClose }: NoteEditorProps) {
  const { t } = useTexts()
  const [text, setText] = useState(note?.text ?? '')
  const initialChatId = note ? (note.scope === 'chat' ? note.chat_id : null) : chats[0]?.id
  const [where, setWhere] = useState(initialChatId ?? EVERYWHERE)
  const [stored, setStored] = useState<NoteRow | null>(null)
  const { busy, error, run } = useAsyncAction()
  const newer = findStoredNote(error)
  const options = note ? (note.chat_id ? [{ id: note.chat_id, title: note.chat_title }] : []) : chats
  const save = () =>
    run(async () => {
      try {
        const isEverywhere = where === EVERYWHERE
        await onSave(text.trim(), isEverywhere ? 'workspace' : 'chat', isEverywhere ? null : where, stored)
      } catch (problem) {
        setStored(before => findStoredNote(problem) ?? before)
        throw problem
      }
      onClose()
    })
  const handleKey = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (event.key === 'Escape') onClose()
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && text.trim()) void save()
  }
  return (
    <li className={styles.editor}>
      <form
        className="col gap"
        onKeyDown={handleKey}
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <textarea
          className={fieldStyles.input}
          data-slot="input"
          aria-label={t('memory.text')}
          value={text}
          maxLength={MAX_NOTE}
          rows={3}
          // biome-ignore lint/a11y/noAutofocus: the person has just asked to write here
          autoFocus
          onChange={event => setText(event.target.value)}
        />
        {error ? (
          <p className="no sm" role="alert">
            {newer ? t('memory.changedMeanwhile', { text: newer.text }) : getErrorText(error)}
          </p>
        ) : null}
        <div className="row spread wrap">
          <select
            className={cx(fieldStyles.input, fieldStyles.select)}
            aria-label={t('memory.where')}
            value={where}
            onChange={event => setWhere(event.target.value)}
          >
            {options.map(chat => (
              <option key={chat.id} value={chat.id}>
                {t('memory.whereChat', { chat: chat.title })}
              </option>
            ))}
            <option value={EVERYWHERE}>{t('memory.whereEverywhere')}</option>
          </select>
          <span className="row">
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button type="submit" tone="ink" blocked={!text.trim()} busy={busy ? t('memory.saving') : null}>
              {t('memory.save')}
            </Button>
          </span>
        </div>
      </form>
    </li>
  )
}
