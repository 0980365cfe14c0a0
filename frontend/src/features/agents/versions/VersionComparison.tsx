import { ArrowLeftRight, RotateCcw } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { type AgentRow, defaultSpec, type ListedSuggestionRow, type SpecRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import layout from '@/ui/layout.module.css'
import { lazy } from '@/ui/lazy'
import { Segments } from '@/ui/Segments'
import { Skeleton } from '@/ui/Skeleton'
import { useIsPhone } from '@/ui/useIsPhone'
import { findRestorable, type Pair } from './pair'
import { RestoreDialog } from './RestoreDialog'
import versionsStyles from './Versions.module.css'

const DiffView = lazy(() => import('../workshop/DiffView').then(module => ({ default: module.DiffView })))

interface VersionComparisonProps {
  agent: AgentRow
  versions: readonly SpecRow[]
  /** A newer list of versions is being read. */
  isReading: boolean
  pair: Pair
  /** The chat the reader came from: a restore posts a message there. */
  chat: string | null
  onPick(pair: Pair): void
  /** The accepted suggestions that version `b` includes. */
  suggestions: readonly ListedSuggestionRow[]
  suggestionLink(id: string, children: ReactNode): ReactNode
  /** The replies of version `b`. */
  replies: ReactNode
}

function MissingVersion({ isReading }: { isReading: boolean }) {
  const { t } = useTexts()
  if (isReading) return <Skeleton lines={6} label={t('loading')} />
  return <p className={cx(layout.pad, 'muted')}>{t('noSuchVersion')}</p>
}

/** The comparison of two versions, with a button to restore one of them. */
export function VersionComparison(props: VersionComparisonProps) {
  const { agent, versions, isReading, pair, chat, onPick, replies } = props
  const { t } = useTexts()
  const isPhone = useIsPhone()
  const [columns, setColumns] = useState<1 | 2>(1)
  const [isRestoring, setRestoring] = useState(false)
  const production = agent.spec.number ?? 1
  const findVersion = (number: number) => versions.find(spec => spec.number === number)
  const a = findVersion(pair.a)
  const b = findVersion(pair.b)
  const target = findRestorable(pair, production)
  const mayRestore = agent.verbs.includes('save_agent')
  if (!b || (pair.a > 0 && !a)) return <MissingVersion isReading={isReading} />
  return (
    <div className={cx(layout.pad, versionsStyles.versus)}>
      <div className="row wrap">
        <VersionSelect
          name="A"
          label={t('sideA')}
          value={pair.a}
          versions={versions}
          hasNoneOption
          onPick={a => onPick({ ...pair, a })}
        />
        <IconButton
          label={t('swap')}
          aria-disabled={pair.a === 0 || undefined}
          onClick={() => pair.a > 0 && onPick({ a: pair.b, b: pair.a })}
        >
          <ArrowLeftRight className="i" aria-hidden />
        </IconButton>
        <VersionSelect
          name="B"
          label={t('sideB')}
          value={pair.b}
          versions={versions}
          onPick={b => onPick({ ...pair, b })}
        />
        <span className="grow" />
        {isPhone ? null : <ColumnSwitch value={columns} onChange={setColumns} />}
        {target === null ? null : (
          <Button
            aria-haspopup="dialog"
            blocked={mayRestore ? false : t('onlyEditorsRestore')}
            onClick={() => setRestoring(true)}
          >
            <RotateCcw className="i s" aria-hidden />
            {t('restoreDots', { version: `v${target}` })}
          </Button>
        )}
      </div>
      {target !== null && !mayRestore ? <p className="xs faint">{t('onlyEditorsRestore')}</p> : null}
      <IncludedSuggestions {...props} />
      <section className={cx(blocks.sec, versionsStyles.diff)} aria-label={t('diff')}>
        <Suspense fallback={<Skeleton lines={6} label={t('loading')} />}>
          <DiffView
            before={a ? a.content : defaultSpec}
            after={b.content}
            layer="production"
            columns={isPhone ? 1 : columns}
          />
        </Suspense>
      </section>
      {replies}
      {target === null ? null : (
        <RestoreDialog
          key={target}
          agent={agent}
          version={target}
          chat={chat}
          open={isRestoring}
          onOpenChange={setRestoring}
          onRestored={b => onPick({ a: b - 1, b })}
          onCompare={() => onPick({ a: target, b: production })}
        />
      )}
    </div>
  )
}

/** The suggestions that the version includes, with their authors and links. */
function IncludedSuggestions({
  suggestions,
  suggestionLink,
}: Pick<VersionComparisonProps, 'suggestions' | 'suggestionLink'>) {
  const { t } = useTexts()
  if (suggestions.length === 0) return null
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('suggestionsInIt')}</h2>
      <ul className={cx(blocks.rows, blocks.in)}>
        {suggestions.map(({ id, author, note, summary }) => (
          <li key={id}>
            <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} />
            <b>{author.name}</b>
            <span className="grow cut">
              {suggestionLink(id, note.trim() || summary.trim() || t('origin.suggestions', { count: 1 }))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface VersionSelectProps {
  name: 'A' | 'B'
  label: string
  value: number
  versions: readonly SpecRow[]
  hasNoneOption?: boolean
  onPick(number: number): void
}

function VersionSelect({ name, label, value, versions, hasNoneOption, onPick }: VersionSelectProps) {
  const { t } = useTexts()
  return (
    <span className="row">
      <span className={cx(versionsStyles.ab, name === 'A' && versionsStyles.a)} aria-hidden>
        {name}
      </span>
      <select
        className={cx(fieldStyles.input, versionsStyles.ofversion)}
        aria-label={label}
        value={value}
        onChange={event => onPick(Number(event.target.value))}
      >
        {versions.map(spec => (
          <option key={spec.id} value={spec.number ?? 0}>
            {`v${spec.number}${spec.message ? ` · ${spec.message}` : ''}`}
          </option>
        ))}
        {hasNoneOption ? <option value={0}>{t('nothingBefore')}</option> : null}
      </select>
    </span>
  )
}

function ColumnSwitch({ value, onChange }: { value: 1 | 2; onChange(columns: 1 | 2): void }) {
  const { t } = useTexts()
  return (
    <Segments
      label={t('columns')}
      value={value === 1 ? 'one' : 'two'}
      options={[
        { value: 'one', label: t('oneColumn') },
        { value: 'two', label: t('twoColumns') },
      ]}
      onChange={columns => onChange(columns === 'one' ? 1 : 2)}
    />
  )
}
