import { ArrowUp, AtSign, Code, ListTree, Paperclip } from 'lucide-react'
import {
  type ChangeEvent,
  type ClipboardEvent,
  type KeyboardEvent,
  memo,
  type Ref,
  type RefObject,
  Suspense,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { MessageRow } from '@/api'
import { ContextLine, findNextContext } from '@/features/context'
import { useFileDrop, useUploads } from '@/features/files'
import { formatShortcut, useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { newId } from '@/lib/ids'
import { hasAnyModifier, isComposing } from '@/lib/keys'
import { t, useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { type ChatState, chatState, useChatSelector } from '@/realtime'
import { IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { FilePicker } from '@/ui/FilePicker'
import { lazy } from '@/ui/lazy'
import { showToast } from '@/ui/toast'
import { attachFiles, MAX_ATTACHMENTS, takeReadyAttachments } from '../attachments'
import { useComposerDraft } from '../composerDraft'
import { findLastOwnText } from '../edits'
import { useAgentsAtWork, usePeopleWithChatOpen, useRunPhases, useStatesOfAgents } from '../hooks'
import { replaceNamesByHandles } from '../mention'
import { useMentionable, useMentionMenu } from '../mentionMenu'
import { send } from '../outbox'
import type { AskedQuestion } from '../question'
import { useWakePreview } from '../wakePreview'
import { AttachmentList } from './AttachmentList'
import { useChat } from './ChatContext'
import styles from './Composer.module.css'
import { MentionList } from './MentionList'
import { getTextId } from './MessageParts'
import { OfferedQuestion } from './OfferedQuestion'
import { ReplyTarget } from './ReplyTarget'
import { UnreadableFiles } from './UnreadableFiles'
import { WakeLine } from './WakeLine'

const PlanDialog = lazy(() => import('./PlanDialog').then(module => ({ default: module.PlanDialog })))

export interface ComposerHandle {
  focus(): void
  reply(row: MessageRow): void
  /** Offers to send a message again, as a reply to its answer: Enter in the empty field sends it. */
  offer(asked: AskedQuestion): void
}

interface ComposerProps {
  title: string
  ref: Ref<ComposerHandle>
  onSent(): void
}

/** The server's limit for the length of a message, in characters. */
const MAX_LENGTH = 200_000

type WakeMode = 'auto' | 'nobody'

/** The composer of a message, with a preview of the agents that it will wake. */
export const Composer = memo(function Composer({ title, ref, onSent }: ComposerProps) {
  const { t } = useTexts()
  const { chatId, workspaceId, me, edit, goTo } = useChat()
  const area = useRef<HTMLTextAreaElement>(null)
  const { text, replyTo, setText, setReplyTo, clear } = useComposerDraft(chatId)
  const [caret, setCaret] = useState(text.length)
  const [wakeMode, setWakeMode] = useState<WakeMode>('auto')
  const [offered, setOffered] = useState<AskedQuestion | null>(null)
  const offeredMessage = text.trim() || replyTo ? null : offered
  const mentionable = useMentionable(chatId, me)
  const present = usePeopleWithChatOpen(chatId)
  const agents = mentionable.filter(actor => actor.kind === 'agent').map(actor => actor.id)
  const working = useAgentsAtWork(chatId)
  const phases = [...useRunPhases(chatId), useStatesOfAgents(workspaceId)]
  const [hasFocus, setHasFocus] = useState(false)
  const outgoing = offeredMessage
    ? { text: offeredMessage.question.payload.text, replyTo: offeredMessage.answer.id }
    : { text: replaceNamesByHandles(text, mentionable), replyTo }
  const attachments = useUploads({ chatId })
  const fileIds = attachments.filter(({ state }) => state === 'ready').map(({ id }) => id)
  const hasReadyFile = fileIds.length > 0
  const preview = { ...outgoing, fileIds, isActive: hasFocus || text !== '' }
  const listed = mentionable.flatMap(({ id, kind, is_taken_down: isDown }) =>
    kind === 'agent' ? `${id}:${isDown}` : [],
  )
  const wakes = useWakePreview(chatId, preview, listed, working, phases)
  const write = useWriteText(area, setText, setCaret)
  const mentions = useMentionMenu({ text, caret, mentionable, write })
  const isDragging = useFileDrop(files => attach(chatId, files))
  const isListOpen = mentions.options.length > 0
  useAutoHeight(area, text)
  useImperativeHandle(
    ref,
    () => ({
      focus: () => area.current?.focus(),
      reply: row => {
        setReplyTo(row.id)
        area.current?.focus()
      },
      offer: asked => {
        setOffered(asked)
        area.current?.focus()
      },
    }),
    [setReplyTo],
  )

  const submit = (wake: WakeMode) => {
    const trimmed = outgoing.text.trim()
    if (!trimmed && !hasReadyFile) return
    const files = takeReadyAttachments(chatId)
    void send(
      chatId,
      { id: newId(), text: trimmed, ...(outgoing.replyTo ? { reply_to: outgoing.replyTo } : {}), wake },
      files,
    )
    setOffered(null)
    clear()
    setWakeMode('auto')
    setCaret(0)
    onSent()
  }
  /** Opens the form of the last own message. Returns whether the composer is empty and there is one. */
  const editLast = () => {
    const row = text || replyTo || attachments.length > 0 ? undefined : findLastOwnText(chatState(chatId), me)
    if (!row || !edit) return false
    edit(row)
    if (!document.getElementById(getTextId(row.id))) goTo(row.id)
    return true
  }
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event) || mentions.onKey(event)) return
    const wake = getWakeModeOfKey(event, wakeMode)
    if (wake) submit(wake)
    else if (event.key === 'ArrowUp' && !hasAnyModifier(event) && editLast()) area.current?.blur()
    else if (event.key === 'Escape' && offeredMessage) setOffered(null)
    else if (event.key === 'Escape' && replyTo) setReplyTo(null)
    else return
    event.preventDefault()
  }
  const onChange = (event: ChangeEvent<HTMLTextAreaElement>) => {
    setText(event.target.value)
    setCaret(event.target.selectionStart)
    mentions.resetSelection()
  }
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    // The field would silently cut off what exceeds its `maxLength`.
    const { selectionStart, selectionEnd } = event.currentTarget
    const length = text.length - (selectionEnd - selectionStart) + event.clipboardData.getData('text').length
    if (length <= MAX_LENGTH) return
    event.preventDefault()
    showToast(t('pasteTooLong', { n: formatNumber(MAX_LENGTH) }))
  }
  const label = t('messageTo', { title })
  return (
    <div className={styles.compose} data-pane="composer" data-kept>
      {isListOpen ? (
        <MentionList
          id="mentions"
          actors={mentions.options}
          picked={mentions.picked}
          present={present}
          onPick={mentions.pick}
        />
      ) : null}
      <div className={cx(styles.cbox, isDragging && styles.dragging)}>
        {isDragging ? <p className={styles.drop}>{t('files.drop')}</p> : null}
        {agents.length > 0 && (wakes || wakeMode === 'nobody') ? (
          <WakeLine
            wakes={wakes}
            isQuiet={wakeMode === 'nobody'}
            onQuietChange={isQuiet => setWakeMode(isQuiet ? 'nobody' : 'auto')}
          >
            <NextContextLine />
          </WakeLine>
        ) : null}
        {offeredMessage ? (
          <OfferedQuestion
            question={offeredMessage.question}
            onAsk={() => submit(wakeMode)}
            onCancel={() => setOffered(null)}
          />
        ) : null}
        {replyTo ? <ReplyTarget id={replyTo} onCancel={() => setReplyTo(null)} /> : null}
        <AttachmentList attachments={attachments} />
        <UnreadableFiles wakes={wakes} isQuiet={wakeMode === 'nobody'} />
        <textarea
          ref={area}
          className={styles.text}
          rows={1}
          value={text}
          placeholder={label}
          aria-label={label}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isListOpen ? 'mentions' : undefined}
          aria-activedescendant={isListOpen ? `mentions-${mentions.picked}` : undefined}
          maxLength={MAX_LENGTH}
          onChange={onChange}
          onPaste={onPaste}
          onFocus={() => setHasFocus(true)}
          onBlur={() => setHasFocus(false)}
          onSelect={event => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKey}
        />
        <Tools
          area={area}
          text={text}
          canSend={offeredMessage !== null || text.trim() !== '' || hasReadyFile}
          write={write}
          hasAgents={agents.length > 0}
          onSend={() => submit(wakeMode)}
          onFiles={files => attach(chatId, files)}
          onPlanned={onSent}
        />
      </div>
    </div>
  )
})

/** What the next answer reads of a chat that is too long for its models. */
function NextContextLine() {
  const { chatId, workspaceId, contextPath, onGo, goTo } = useChat()
  const text = useChatSelector(chatId, selectNextContext)
  if (text === null) return null
  return (
    <Suspense fallback={null}>
      <ContextLine
        chatId={chatId}
        workspaceId={workspaceId}
        next={JSON.parse(text)}
        settingsPath={contextPath}
        onGo={onGo}
        goTo={goTo}
      />
    </Suspense>
  )
}

/** Returns the context as JSON text, because the component renders again for each new object. */
function selectNextContext({ log, firstLoadedSeq }: ChatState): string | null {
  const next = findNextContext(log, firstLoadedSeq)
  return next && JSON.stringify(next)
}

/** Attaches files to the message, and says so when there are too many. */
function attach(chatId: string, files: readonly File[]): void {
  if (attachFiles(chatId, files) > 0) showToast(t('files.tooMany', { n: MAX_ATTACHMENTS }))
}

const isTouch = () => matchMedia('(hover: none) and (pointer: coarse)').matches

/** Returns the wake mode with which a key sends the message; null if the key does not send. */
function getWakeModeOfKey(event: KeyboardEvent, wakeMode: WakeMode): WakeMode | null {
  if (event.key !== 'Enter') return null
  // On a soft keyboard, Enter adds a line and the button sends.
  if (isTouch() && !event.ctrlKey && !event.metaKey) return null
  if (!event.shiftKey) return wakeMode
  return event.ctrlKey || event.metaKey ? 'nobody' : null
}

const MAX_HEIGHT_PX = 260

/** Adjusts the height of the field to its text, up to a limit. */
function useAutoHeight(area: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const box = area.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, MAX_HEIGHT_PX)}px`
  }, [text, area])
}

/** Returns a function that sets the text and, once it is rendered, the caret. */
function useWriteText(
  area: RefObject<HTMLTextAreaElement | null>,
  setText: (text: string) => void,
  setCaret: (at: number) => void,
) {
  return useCallback(
    (next: string, at: number) => {
      setText(next)
      setCaret(at)
      requestAnimationFrame(() => {
        area.current?.focus()
        area.current?.setSelectionRange(at, at)
      })
    },
    [area, setText, setCaret],
  )
}

interface ToolsProps {
  area: RefObject<HTMLTextAreaElement | null>
  text: string
  canSend: boolean
  write(text: string, caret: number): void
  hasAgents: boolean
  onSend(): void
  onFiles(files: readonly File[]): void
  /** Called when a plan by hand was started. */
  onPlanned(): void
}

function Tools({ area, text, canSend, write, hasAgents, onSend, onFiles, onPlanned }: ToolsProps) {
  const { t } = useTexts()
  const picker = useRef<HTMLInputElement>(null)
  const insert = (before: string, after = '') => {
    const box = area.current
    if (!box) return
    const { selectionStart: from, selectionEnd: to } = box
    const start = text.slice(0, from) + before
    write(start + text.slice(from, to) + after + text.slice(to), start.length + (to - from))
  }
  const mention = () => {
    const before = text.slice(0, area.current?.selectionStart ?? 0)
    insert(before === '' || /\s$/.test(before) ? '@' : ' @')
  }
  const code = () => (text.includes('\n') ? insert('\n```\n', '\n```\n') : insert('`', '`'))
  return (
    <div className={styles.tools}>
      <IconButton label={t('files.attach')} onClick={() => picker.current?.click()}>
        <Paperclip className="i" />
      </IconButton>
      <FilePicker ref={picker} label={t('files.attach')} onFiles={onFiles} />
      <IconButton label={t('mention')} onClick={mention}>
        <AtSign className="i" />
      </IconButton>
      <IconButton label={t('code')} onClick={code}>
        <Code className="i" />
      </IconButton>
      <PlanButton onPlanned={onPlanned} />
      <span className="end">
        {hasAgents ? (
          <span className="faint xs only-wide">
            {t('wake.noneShort')} <kbd className={blocks.key}>{formatShortcut('message.sendQuietly')}</kbd>
          </span>
        ) : null}
        <button
          type="button"
          className={styles.send}
          aria-label={t('send')}
          title={t('send')}
          aria-disabled={!canSend}
          onClick={onSend}
        >
          <ArrowUp className="i" aria-hidden />
        </button>
      </span>
    </div>
  )
}

/** Opens the form of a plan by hand. */
function PlanButton({ onPlanned }: { onPlanned(): void }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  useActions(() => ({ 'plan.open': () => setOpen(true) }))
  return (
    <>
      <IconButton label={t('plan.title')} onClick={() => setOpen(true)}>
        <ListTree className="i" />
      </IconButton>
      {isOpen ? (
        <Suspense fallback={null}>
          <PlanDialog onClose={() => setOpen(false)} onStarted={onPlanned} />
        </Suspense>
      ) : null}
    </>
  )
}
