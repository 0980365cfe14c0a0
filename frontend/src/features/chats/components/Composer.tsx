import { ArrowUp, AtSign, Code, Reply, X } from 'lucide-react'
import {
  type KeyboardEvent,
  type Ref,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { ActorRow, MessageRow } from '@/api'
import { newId } from '@/lib/ids'
import { isComposing } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import { useComposition } from '../composing'
import { usePlaces, usePresent } from '../hooks'
import { completed, matching, mentionAt } from '../mention'
import { send } from '../outbox'
import { useWakes } from '../wakes'
import { useChat } from './ChatContext'
import { ALL, MentionList } from './MentionList'
import { textOf } from './MessageParts'
import { WakeLine } from './WakeLine'

export interface ComposerHandle {
  focus(): void
  reply(row: MessageRow): void
}

interface ComposerProps {
  title: string
  ref: Ref<ComposerHandle>
  onSent(): void
}

const HIGHEST_PX = 260

/** Everybody here but the reader, and "all" when there is more than one other person. */
function useMentionable(): ActorRow[] {
  const { chatId, me } = useChat()
  const { t } = useTexts()
  const places = usePlaces(chatId)
  return useMemo(() => {
    const actors = places.map(place => place.actor).filter(actor => actor.id !== me)
    const people = actors.filter(actor => actor.kind === 'human')
    const everybody: ActorRow = {
      id: ALL,
      kind: 'human',
      name: t('everybody'),
      handle: ALL,
      description: null,
      workspace_id: null,
      is_public: false,
    }
    return people.length > 1 ? [...actors, everybody] : actors
  }, [places, me, t])
}

export function Composer({ title, ref, onSent }: ComposerProps) {
  const { t } = useTexts()
  const { chatId, find, who } = useChat()
  const area = useRef<HTMLTextAreaElement>(null)
  const { text, replyTo, setText, setReplyTo, clear } = useComposition(chatId)
  const [caret, setCaret] = useState(text.length)
  const [isAsleep, setAsleep] = useState(false)
  const [picked, setPicked] = useState(0)
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const mentionable = useMentionable()
  const present = usePresent(chatId)
  const agents = mentionable.filter(actor => actor.kind === 'agent').map(actor => actor.id)
  const wakes = useWakes(chatId, text, replyTo, agents.join(' '))

  const typing = mentionAt(text, caret)
  const options = typing && typing.from !== closedAt ? matching(mentionable, typing.query).slice(0, 8) : []

  useImperativeHandle(
    ref,
    () => ({
      focus: () => area.current?.focus(),
      reply: row => {
        setReplyTo(row.id)
        area.current?.focus()
      },
    }),
    [setReplyTo],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const box = area.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, HIGHEST_PX)}px`
  }, [text])

  const write = useCallback(
    (next: string, at: number) => {
      setText(next)
      setCaret(at)
      setPicked(0)
      requestAnimationFrame(() => {
        area.current?.focus()
        area.current?.setSelectionRange(at, at)
      })
    },
    [setText],
  )

  const pick = (actor: ActorRow | undefined) => {
    if (!actor || !typing) return
    const next = completed(text, caret, typing, actor.handle)
    write(next.text, next.caret)
  }

  const submit = (wake: 'auto' | 'nobody') => {
    const said = text.trim()
    if (!said) return
    void send(chatId, { id: newId(), text: said, ...(replyTo ? { reply_to: replyTo } : {}), wake })
    clear()
    setAsleep(false)
    setCaret(0)
    onSent()
  }

  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) return
    if (options.length > 0 && onMentionKey(event)) return
    if (event.key === 'Enter' && event.shiftKey && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      submit('nobody')
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      submit(isAsleep ? 'nobody' : 'auto')
    } else if (event.key === 'Escape' && replyTo) {
      event.preventDefault()
      setReplyTo(null)
    }
  }

  const onMentionKey = (event: KeyboardEvent): boolean => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) setPicked((picked + move + options.length) % options.length)
    else if (event.key === 'Enter' || event.key === 'Tab') pick(options[picked])
    else if (event.key === 'Escape') setClosedAt(typing?.from ?? null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const insert = (before: string, after = '') => {
    const box = area.current
    if (!box) return
    const { selectionStart: from, selectionEnd: to } = box
    const space = before === '@' && from > 0 && !/\s$/.test(text.slice(0, from)) ? ' ' : ''
    const start = text.slice(0, from) + space + before
    write(start + text.slice(from, to) + after + text.slice(to), start.length + (to - from))
  }

  const answered = replyTo ? find(replyTo) : undefined
  const canSend = text.trim() !== ''
  return (
    <div className="compose">
      {options.length > 0 ? (
        <MentionList id="mentions" actors={options} picked={picked} present={present} onPick={pick} />
      ) : null}
      <div className="cbox">
        {wakes && agents.length > 0 ? <WakeLine wakes={wakes} asleep={isAsleep} onAsleep={setAsleep} /> : null}
        {answered ? (
          <div className="replying">
            <Reply className="i s" aria-hidden />
            <span className="cut">
              <b>{who(answered.author_id)?.name}</b> {textOf(answered)}
            </span>
            <IconButton small label={t('cancelReply')} onClick={() => setReplyTo(null)}>
              <X className="i s" />
            </IconButton>
          </div>
        ) : null}
        <textarea
          ref={area}
          className="text"
          rows={1}
          value={text}
          placeholder={t('messageTo', { title })}
          aria-label={t('messageTo', { title })}
          aria-haspopup="listbox"
          aria-expanded={options.length > 0}
          aria-controls={options.length > 0 ? 'mentions' : undefined}
          aria-activedescendant={options.length > 0 ? `mentions-${picked}` : undefined}
          role="combobox"
          maxLength={200_000}
          onChange={event => {
            setText(event.target.value)
            setCaret(event.target.selectionStart)
            setPicked(0)
            setClosedAt(null)
          }}
          onSelect={event => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKey}
        />
        <div className="tools">
          <IconButton label={t('mention')} onClick={() => insert('@')}>
            <AtSign className="i" />
          </IconButton>
          <IconButton
            label={t('code')}
            onClick={() => (text.includes('\n') ? insert('\n```\n', '\n```\n') : insert('`', '`'))}
          >
            <Code className="i" />
          </IconButton>
          <span className="end">
            {agents.length > 0 ? (
              <span className="faint xs only-wide">
                {t('wake.nobodyShort')} <kbd className="key">Ctrl ⇧ ↵</kbd>
              </span>
            ) : null}
            <button
              type="button"
              className="send"
              aria-label={t('send')}
              title={t('send')}
              aria-disabled={!canSend}
              onClick={() => submit(isAsleep ? 'nobody' : 'auto')}
            >
              <ArrowUp className="i" aria-hidden />
            </button>
          </span>
        </div>
      </div>
    </div>
  )
}
