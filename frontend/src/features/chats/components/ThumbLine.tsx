import { useQueryClient } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp, X } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useId, useState } from 'react'
import { giveThumb, keys, type TextMessageRow, type ThumbReason, type ThumbRow, useOwnThumbs } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { upsertRows } from '@/realtime'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import { getThumb, openThumbForm } from '../thumbs'
import { useChat } from './ChatContext'
import styles from './Thumbs.module.css'

const MAX_TEXT = 500
const reasons = ['wrong_fact', 'not_as_asked', 'too_long'] as const satisfies readonly ThumbReason[]

interface ThumbLineProps {
  row: TextMessageRow
  isFormOpen: boolean
}

/** Who finds an answer good or bad, what the reader has written, and the form for it. */
export function ThumbLine({ row, isFormOpen }: ThumbLineProps) {
  const { chatId, me, toggleThumb } = useChat()
  const mine = getThumb(row, me)
  const thumbs = useOwnThumbs(chatId, mine !== null)
  const own = thumbs.data?.find(thumb => thumb.message_id === row.id && thumb.value === mine)
  return (
    <>
      {row.thumbs ? (
        <div className={styles.line}>
          <Count ids={row.thumbs.up ?? []} value="up" />
          <Count ids={row.thumbs.down ?? []} value="down" />
          {mine && own ? (
            <OwnWords own={own} onEdit={toggleThumb && !isFormOpen ? () => openThumbForm.set(row.id) : null} />
          ) : null}
        </div>
      ) : null}
      {isFormOpen && thumbs.isFetchedAfterMount ? <ThumbForm key={own?.created_at ?? ''} row={row} own={own} /> : null}
    </>
  )
}

function Count({ ids, value }: { ids: readonly string[]; value: 'up' | 'down' }) {
  const { t } = useTexts()
  const { findActor } = useChat()
  if (ids.length === 0) return null
  const names = formatList(ids.map(id => findActor(id)?.name ?? t('unknownPerson')))
  const label = t(value === 'up' ? 'thumbs.goodBy' : 'thumbs.badBy', { names })
  const Icon = value === 'up' ? ThumbsUp : ThumbsDown
  return (
    <span className={styles.count} role="img" aria-label={label} title={label}>
      <Icon className="i s" aria-hidden />
      <span className="num">{ids.length}</span>
    </span>
  )
}

/** What the reader has written, or a button that opens the form. */
function OwnWords({ own, onEdit }: { own: ThumbRow; onEdit: (() => void) | null }) {
  const { t } = useTexts()
  const words = [own.reason ? t(`thumbs.reason.${own.reason}`) : '', own.text].filter(Boolean).join(' · ')
  if (!words && (own.value === 'up' || !onEdit)) return null
  return (
    <>
      {words ? <span className={styles.words}>{t('thumbs.own', { words })}</span> : null}
      {onEdit && own.value === 'down' ? (
        <button type="button" className="link" onClick={onEdit}>
          {t(words ? 'thumbs.change' : 'thumbs.sayWhy')}
        </button>
      ) : null}
    </>
  )
}

function ThumbForm({ row, own }: { row: TextMessageRow; own: ThumbRow | undefined }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const title = useId()
  const [text, setText] = useState(own?.text ?? '')
  const [reason, setReason] = useState<ThumbReason | null>(own?.reason ?? null)
  const [isSending, setSending] = useState(false)
  const close = () => openThumbForm.set(null)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (isSending) return
    setSending(true)
    try {
      upsertRows(row.chat_id, [await giveThumb(row.chat_id, row.id, { value: 'down', reason, text })])
      await client.invalidateQueries({ queryKey: keys.ownThumbs(row.chat_id) })
      close()
    } catch (error) {
      setSending(false)
      showToast(getErrorText(error))
    }
  }
  const handleKey = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <form className={styles.form} aria-labelledby={title} onSubmit={event => void send(event)} onKeyDown={handleKey}>
      <div className={styles.head}>
        <ThumbsDown className="i s" aria-hidden />
        <b id={title}>{t('thumbs.whatWasWrong')}</b>
        <IconButton small label={t('close')} onClick={close}>
          <X className="i" />
        </IconButton>
      </div>
      <div className={styles.fields}>
        <textarea
          // biome-ignore lint/a11y/noAutofocus: a person has opened the form by a key or a button
          autoFocus
          className={fieldStyles.input}
          data-slot="input"
          rows={2}
          maxLength={MAX_TEXT}
          aria-labelledby={title}
          value={text}
          onChange={event => setText(event.target.value)}
        />
        <div className={blocks.chips}>
          {reasons.map(name => (
            <button
              key={name}
              type="button"
              className={blocks.pick}
              aria-pressed={reason === name}
              onClick={() => setReason(reason === name ? null : name)}
            >
              {t(`thumbs.reason.${name}`)}
            </button>
          ))}
        </div>
      </div>
      <div className={styles.send}>
        <span className="faint xs">{t('thumbs.whoReads')}</span>
        <Button type="submit" size="xs" tone="ink" busy={isSending ? t('sending') : null}>
          {t('send')}
        </Button>
      </div>
    </form>
  )
}
