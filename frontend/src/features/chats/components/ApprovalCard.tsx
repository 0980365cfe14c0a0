import { Check, CircleAlert, Pencil, ShieldQuestion } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react'
import { ApiError, type ApprovalAsked, type ApprovalAskedRow, type Decision, decideApproval, useApproval } from '@/api'
import { ToolName } from '@/features/agents'
import { formatShortcut } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { showHiddenCharacters } from '@/lib/hiddenCharacters'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { getToolIcon } from '@/lib/toolIcons'
import { isAgentTool } from '@/lib/toolNames'
import { Button } from '@/ui/Button'
import fieldStyles from '@/ui/Field.module.css'
import { LoadError } from '@/ui/LoadError'
import { showToast } from '@/ui/toast'
import { type ArgumentField, findProblems, isValidField, readFields, writeFields } from '../callArguments'
import { readEditedArguments, storeEditedArguments } from '../editedArguments'
import styles from './ApprovalCard.module.css'
import { Expiry, WhoDecides } from './ApprovalParts'
import { CallTargetPart } from './CallTargetPart'
import { useChat } from './ChatContext'
import { QuestionCard } from './QuestionCard'

const MAX_NOTE = 500

const reasons: Record<NonNullable<ApprovalAsked['reason']>, PlainTextKey> = {
  policy: 'approval.whyPolicy',
  others: 'approval.whyOthers',
  outside: 'approval.whyOutside',
}

/** Why a call is asked about again that `approved_for_run` would have covered. */
const getReasonAgain = ({ asked_again, read_texts }: ApprovalAsked): PlainTextKey =>
  asked_again === 'target'
    ? 'approval.againTarget'
    : read_texts === 'outside'
      ? 'approval.againOutside'
      : 'approval.againOthers'

/**
 * A call, or a question of an agent, that waits for a person. A call is described by texts of this app; its arguments
 * are shown as data.
 */
export function ApprovalCard({ row }: { row: ApprovalAskedRow }) {
  const { me, isEditor } = useChat()
  const { decide, isDeciding, problems } = useDecide(row)
  const { question, person_id: personId } = row.payload
  const canDecide = personId === me || isEditor
  if (question)
    return (
      <QuestionCard
        row={row}
        question={question}
        onDecide={canDecide ? decide : null}
        isDeciding={isDeciding}
        expiry={<Expiry at={row.payload.expires_at} />}
      />
    )
  return <CallCard row={row} onDecide={canDecide ? decide : null} isDeciding={isDeciding} problems={problems} />
}

/**
 * Returns a function that sends one decision, however often it is called, unless the request fails. The card disappears
 * when the decision arrives as a frame. `problems`: why the server rejected the edited arguments; null if it has not
 * rejected them.
 */
function useDecide({ id, payload }: ApprovalAskedRow) {
  const [isDeciding, setDeciding] = useState(false)
  const [problems, setProblems] = useState<readonly string[] | null>(null)
  const isSent = useRef(false)
  const decide = async (decision: Decision) => {
    if (isSent.current) return
    isSent.current = true
    setDeciding(true)
    setProblems(null)
    try {
      await decideApproval(id, decision)
      storeEditedArguments(id, null, payload.expires_at)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_arguments') setProblems(error.hints)
      else showToast(getErrorText(error))
      isSent.current = false
      setDeciding(false)
    }
  }
  return { decide: (decision: Decision) => void decide(decision), isDeciding, problems }
}

interface CallCardProps {
  row: ApprovalAskedRow
  /** Null if the reader may not decide. */
  onDecide: ((decision: Decision) => void) | null
  isDeciding: boolean
  problems: readonly string[] | null
}

type Mode = 'view' | 'edit' | 'refuse'

/** Presses the button that approves, if there is one. The key means something else outside the card. */
function approveByKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.stopPropagation()
  event.currentTarget.querySelector<HTMLElement>('[data-approves]')?.click()
}

/** The key that approves, on a button that does so. */
const ApproveKey = () => <kbd aria-hidden>{formatShortcut('call.approve')}</kbd>

function CallCard({ row, onDecide, isDeciding, problems }: CallCardProps) {
  const { t } = useTexts()
  const { findActor } = useChat()
  const { tool, target_id: agentId, target_name: agentName, arguments: args } = row.payload
  const [mode, setMode] = useState<Mode>(() => (onDecide && readEditedArguments(row.id) ? 'edit' : 'view'))
  const section = useFocusOfMode(mode)
  const agent = findActor(agentId)?.name ?? agentName
  const Icon = getToolIcon(tool)
  const isAgent = isAgentTool(tool)
  const { approval, isBlocked, isHidden } = useTarget(row)
  const shownMode = isHidden && mode === 'edit' ? 'view' : mode
  const name = isAgent ? t('subAgents.publicAgent') : showHiddenCharacters(tool)
  return (
    <section
      ref={section}
      className={styles.card}
      aria-label={t('approval.label', { tool: name })}
      // Tab reaches the card before its buttons, so that Enter does not approve what was not looked at.
      tabIndex={onDecide ? 0 : undefined}
      onKeyDown={approveByKey}
    >
      <div className={styles.head}>
        <span className={styles.icon}>
          <Icon className="i" aria-hidden />
        </span>
        <span className={styles.title}>
          <b>{agent}</b> {t('approval.wantsToRun')} {isAgent ? <ToolName tool={tool} /> : <code>{name}</code>}
          {shownMode === 'edit' ? <small>{t('approval.editing')}</small> : null}
        </span>
        <Expiry at={row.payload.expires_at} />
      </div>
      {shownMode === 'view' ? <Why payload={row.payload} /> : null}
      <Target approval={approval} />
      {shownMode === 'edit' && onDecide ? (
        <EditForm
          row={row}
          isDeciding={isDeciding}
          isBlocked={isBlocked}
          problems={problems}
          onDecide={onDecide}
          onCancel={() => setMode('view')}
        />
      ) : (
        <Values args={args} />
      )}
      {mode === 'refuse' && onDecide ? (
        <RefuseForm agent={agent} isDeciding={isDeciding} onDecide={onDecide} onBack={() => setMode('view')} />
      ) : null}
      {shownMode === 'view' ? (
        <Actions
          row={row}
          isDeciding={isDeciding}
          isBlocked={isBlocked}
          isHidden={isHidden}
          onDecide={onDecide}
          onMode={setMode}
        />
      ) : null}
    </section>
  )
}

/** Returns where the call goes. `isHidden`: into a chat that the reader does not read. */
function useTarget({ id, payload }: ApprovalAskedRow) {
  const approval = useApproval(payload.has_target ? id : null)
  const target = approval.data?.target
  return {
    approval,
    // Nobody approves what they have not seen.
    isBlocked: payload.has_target === true && !target,
    isHidden: target?.type === 'chat' && target.is_hidden,
  }
}

/** Moves the focus into the form that replaces the buttons, and back to the button that opened it. `RefuseForm` focuses itself. */
function useFocusOfMode(mode: Mode): RefObject<HTMLElement | null> {
  const section = useRef<HTMLElement>(null)
  const before = useRef(mode)
  useEffect(() => {
    if (before.current === mode) return
    const selector = { view: `[data-opens=${before.current}]`, edit: 'input, textarea, select', refuse: null }[mode]
    before.current = mode
    if (selector) section.current?.querySelector<HTMLElement>(selector)?.focus()
  }, [mode])
  return section
}

export function Why({ payload }: { payload: ApprovalAsked }) {
  const { t } = useTexts()
  const { reason, asked_again: askedAgain } = payload
  if (!reason) return null
  return (
    <div className={styles.why}>
      <ShieldQuestion className="i s" aria-hidden />
      <span>
        <b>{t(askedAgain ? 'approval.again' : 'approval.why')}</b>{' '}
        {t(askedAgain ? getReasonAgain(payload) : reasons[reason])}
      </span>
    </div>
  )
}

/** Where the call goes, or why that could not be loaded. */
function Target({ approval }: { approval: ReturnType<typeof useApproval> }) {
  const { t } = useTexts()
  if (approval.data?.target) return <CallTargetPart target={approval.data.target} />
  if (!approval.isError) return null
  return <LoadError text={t('approval.noTarget')} error={approval.error} onRetry={() => void approval.refetch()} />
}

interface ActionsProps {
  row: ApprovalAskedRow
  isDeciding: boolean
  isBlocked: boolean
  /** The reader does not read the chat that the call writes into, and can only refuse it. */
  isHidden: boolean
  onDecide: ((decision: Decision) => void) | null
  onMode(mode: Mode): void
}

function Actions({ row, isDeciding, isBlocked, isHidden, onDecide, onMode }: ActionsProps) {
  const { t } = useTexts()
  // A message that was stored by an earlier version does not say it.
  const canApproveForRun = row.payload.can_approve_for_run !== false
  return (
    <>
      {isHidden && onDecide ? <p className={styles.once}>{t('approval.hiddenTarget')}</p> : null}
      {canApproveForRun || isHidden ? null : <p className={styles.once}>{t('approval.onlyOnce')}</p>}
      <div className={styles.actions}>
        {onDecide ? (
          <DecideButtons
            isDeciding={isDeciding}
            isBlocked={isBlocked}
            isHidden={isHidden}
            canApproveForRun={canApproveForRun}
            onDecide={onDecide}
            onMode={onMode}
          />
        ) : null}
        <WhoDecides payload={row.payload} />
      </div>
    </>
  )
}

function DecideButtons({
  isDeciding,
  isBlocked,
  isHidden,
  canApproveForRun,
  onDecide,
  onMode,
}: {
  isDeciding: boolean
  isBlocked: boolean
  isHidden: boolean
  canApproveForRun: boolean
  onDecide(decision: Decision): void
  onMode(mode: Mode): void
}) {
  const { t } = useTexts()
  const refuse = (
    <Button tone="bad" data-opens="refuse" blocked={isDeciding} onClick={() => onMode('refuse')}>
      {t('approval.refuse')}
    </Button>
  )
  if (isHidden) return refuse
  return (
    <>
      <Button
        tone="good"
        data-approves
        aria-keyshortcuts="Control+Enter Meta+Enter"
        busy={isDeciding && t('approval.approve')}
        blocked={isBlocked && t('approval.loadingTarget')}
        onClick={() => onDecide({ decision: 'approved' })}
      >
        <Check className="i s" aria-hidden />
        {t('approval.approve')}
        <ApproveKey />
      </Button>
      {canApproveForRun ? (
        <Button blocked={isDeciding || isBlocked} onClick={() => onDecide({ decision: 'approved_for_run' })}>
          {t('approval.approveForRun')}
        </Button>
      ) : null}
      <Button data-opens="edit" blocked={isDeciding} onClick={() => onMode('edit')}>
        <Pencil className="i s" aria-hidden />
        {t('approval.edit')}
      </Button>
      {refuse}
    </>
  )
}

/** The arguments as they are, with hidden characters made visible. */
export function Values({ args }: { args: string }) {
  const fields = useMemo(() => readFields(args), [args])
  if (!fields) return <pre className={cx(styles.raw, styles.value)}>{showHiddenCharacters(args)}</pre>
  if (fields.length === 0) return null
  return (
    <dl className={styles.fields}>
      {fields.map(({ name, text }) => (
        <div key={name}>
          <dt>{showHiddenCharacters(name)}</dt>
          <dd className={styles.value}>{showHiddenCharacters(text)}</dd>
        </div>
      ))}
    </dl>
  )
}

interface EditFormProps {
  row: ApprovalAskedRow
  isDeciding: boolean
  isBlocked: boolean
  problems: readonly string[] | null
  onDecide(decision: Decision): void
  onCancel(): void
}

function EditForm({ row, isDeciding, isBlocked, problems, onDecide, onCancel }: EditFormProps) {
  const { t } = useTexts()
  const { arguments: args, expires_at: expiresAt } = row.payload
  const original = useMemo<ArgumentField[]>(
    () => readFields(args) ?? [{ name: 'arguments', kind: 'json', text: args }],
    [args],
  )
  const isEditedAsWhole = useMemo(() => readFields(args) === null, [args])
  const [texts, setTexts] = useState<readonly string[]>(
    () => readEditedArguments(row.id) ?? original.map(field => field.text),
  )
  const fields = original.map((field, index) => ({ ...field, text: texts[index] ?? '' }))
  const editedCount = fields.filter((field, index) => field.text !== original[index]?.text).length
  const isValid = fields.every(field => isValidField(field.kind, field.text))
  useEffect(
    () => storeEditedArguments(row.id, editedCount ? texts : null, expiresAt),
    [row.id, editedCount, texts, expiresAt],
  )
  const change = (index: number, text: string) => setTexts(texts.map((before, at) => (at === index ? text : before)))
  const cancel = () => {
    storeEditedArguments(row.id, null, expiresAt)
    onCancel()
  }
  const approve = () => {
    const edited = isEditedAsWhole ? (texts[0] ?? '') : writeFields(fields)
    onDecide({ decision: 'approved', ...(editedCount ? { arguments: edited } : {}) })
  }
  return (
    <>
      <div className={styles.fields}>
        {fields.map((field, index) => (
          <EditField
            key={field.name}
            field={field}
            before={original[index]?.text ?? ''}
            problems={isEditedAsWhole ? [] : findProblems(problems ?? [], field.name)}
            onChange={text => change(index, text)}
          />
        ))}
      </div>
      {problems ? (
        <div className={styles.problems} role="alert">
          <CircleAlert className="i s" aria-hidden />
          <div>
            {t('error.invalid_arguments')}
            <Problems
              problems={problems.filter(
                problem => isEditedAsWhole || !fields.some(field => findProblems([problem], field.name).length),
              )}
            />
          </div>
        </div>
      ) : null}
      <div className={styles.actions}>
        <Button
          tone="good"
          data-approves
          aria-keyshortcuts="Control+Enter Meta+Enter"
          busy={isDeciding && t('approval.approve')}
          blocked={(!isValid && t('approval.invalid')) || (isBlocked && t('approval.loadingTarget'))}
          onClick={approve}
        >
          <Check className="i s" aria-hidden />
          {editedCount ? t('approval.approveEdits', { count: editedCount }) : t('approval.approve')}
          <ApproveKey />
        </Button>
        <Button tone="flat" onClick={cancel}>
          {t('cancel')}
        </Button>
      </div>
    </>
  )
}

/** Problems as the server writes them: the path of a value, and what is wrong with it. */
function Problems({ problems, id }: { problems: readonly string[]; id?: string }) {
  if (problems.length === 0) return null
  return (
    <ul className={styles.problemList} id={id}>
      {problems.map(problem => (
        <li key={problem}>{showHiddenCharacters(problem)}</li>
      ))}
    </ul>
  )
}

function EditField({
  field,
  before,
  problems,
  onChange,
}: {
  field: ArgumentField
  before: string
  problems: readonly string[]
  onChange(text: string): void
}) {
  const { t } = useTexts()
  const id = useId()
  const isValid = isValidField(field.kind, field.text) && problems.length === 0
  const common = {
    id,
    className: cx(fieldStyles.input, styles.input),
    'aria-invalid': !isValid || undefined,
    'aria-describedby': problems.length > 0 ? `${id}-problems` : undefined,
  }
  return (
    <div>
      <label htmlFor={id}>{showHiddenCharacters(field.name)}</label>
      <div>
        {field.kind === 'boolean' ? (
          <select {...common} value={field.text} onChange={event => onChange(event.target.value)}>
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        ) : field.kind === 'number' ? (
          <input {...common} inputMode="decimal" value={field.text} onChange={event => onChange(event.target.value)} />
        ) : (
          <textarea
            {...common}
            rows={Math.min(10, field.text.split('\n').length + Math.floor(field.text.length / 80))}
            value={field.text}
            onChange={event => onChange(event.target.value)}
          />
        )}
        <Problems problems={problems} id={`${id}-problems`} />
        {field.text !== before ? (
          <span className={styles.was}>
            {t('approval.was')} <del>{showHiddenCharacters(before.slice(0, 120))}</del> ·{' '}
            <button type="button" onClick={() => onChange(before)}>
              {t('approval.reset')}
            </button>
          </span>
        ) : null}
      </div>
    </div>
  )
}

const picks = ['approval.notNow', 'approval.wrongContent', 'approval.neverHere'] as const

interface RefuseFormProps {
  agent: string
  /** The text of the button that refuses. */
  label?: string
  isDeciding: boolean
  onDecide(decision: Decision): void
  onBack(): void
}

export function RefuseForm({ agent, label, isDeciding, onDecide, onBack }: RefuseFormProps) {
  const { t } = useTexts()
  const refuse = label ?? t('approval.refuseNow')
  const [note, setNote] = useState('')
  const id = useId()
  return (
    <>
      <div className={styles.reason}>
        <label htmlFor={id}>{t('approval.tellWhy', { name: agent })}</label>
        <input
          id={id}
          className={fieldStyles.input}
          value={note}
          maxLength={MAX_NOTE}
          // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
          autoFocus
          onChange={event => setNote(event.target.value)}
        />
        <div className={styles.picks}>
          {picks.map(key => (
            <button key={key} type="button" onClick={() => setNote(t(key))}>
              {t(key)}
            </button>
          ))}
        </div>
      </div>
      <div className={styles.actions}>
        <Button tone="bad" busy={isDeciding && refuse} onClick={() => onDecide({ decision: 'refused', note })}>
          {refuse}
        </Button>
        <Button tone="flat" onClick={onBack}>
          {t('approval.back')}
        </Button>
        <span className={styles.who}>{t('approval.goesOnWithout')}</span>
      </div>
    </>
  )
}
