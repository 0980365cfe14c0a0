import { Check, Play, Plus, X } from 'lucide-react'
import type { NameCheckRow, PublicationCheckRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Field, SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { languageTags, nameLanguage } from './languages'
import styles from './Publish.module.css'
import { categories } from './search'
import { MAX_EXAMPLES, type PublicationValues } from './storedPublication'

interface ListingFieldsProps {
  values: PublicationValues
  check: PublicationCheckRow
  /** The name and the handle are being checked. */
  isChecking: boolean
  /** The agent is public already: its handle cannot be changed. */
  isUpdate: boolean
  /** The number of the new public version. Null for the first, or if only the listing changes: these have no note. */
  nextVersion: number | null
  /** What "Try it" does with an example; null while a chat is being created. */
  onTry: ((example: string) => void) | null
  /** Where "Try it" asks the example. */
  tryHint: string
  onChange(part: Partial<PublicationValues>): void
}

const MAX_DESCRIPTION = 2_000

/** The fields of what the directory shows of an agent. */
export function ListingFields({
  values,
  check,
  isChecking,
  isUpdate,
  nextVersion,
  onChange,
  ...rest
}: ListingFieldsProps) {
  const { t } = useTexts()
  const state = { isChecking }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('publish.appears')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        <div className={styles.pair}>
          <div className="col">
            <TextField
              label={t('agentName')}
              value={values.name}
              maxLength={80}
              required
              error={!isChecking && !check.name.is_free && values.name.trim() ? t('publish.nameTaken') : null}
              hint={values.name.trim() ? <FreeHint check={check.name} {...state} isOwn={isUpdate} /> : null}
              onChange={name => onChange({ name })}
            />
            <Proposals check={check.name} {...state} onPick={name => onChange({ name })} />
          </div>
          <div className="col">
            <TextField
              label={t('handle')}
              value={values.handle}
              maxLength={41}
              required
              readOnly={isUpdate}
              error={!isUpdate && !isChecking && !check.handle.is_free ? getHandleProblem(check.handle, t) : null}
              hint={
                isUpdate || !values.handle.trim() ? (
                  t('publish.handleStays')
                ) : (
                  <FreeHint check={check.handle} {...state} isHandle isOwn={false} />
                )
              }
              onChange={handle => onChange({ handle })}
            />
            {isUpdate ? null : <Proposals check={check.handle} {...state} onPick={handle => onChange({ handle })} />}
          </div>
        </div>
        <Field label={t('publish.description')} hint={t('publish.descriptionHint')}>
          {attributes => (
            <textarea
              {...attributes}
              className={fieldStyles.input}
              rows={3}
              required
              maxLength={MAX_DESCRIPTION}
              value={values.description}
              onChange={event => onChange({ description: event.target.value })}
            />
          )}
        </Field>
        <div className={styles.pair}>
          <SelectField
            label={t('directory.category')}
            value={values.category}
            options={categories.map(value => ({ value, label: t(`directory.category.${value}`) }))}
            onChange={category => onChange({ category })}
          />
        </div>
        <Languages values={values.languages} onChange={languages => onChange({ languages })} />
        <Examples {...rest} values={values.examples} onChange={examples => onChange({ examples })} />
        {nextVersion !== null ? (
          <TextField
            label={t('publish.message', { version: nextVersion })}
            hint={t('publish.messageHint')}
            value={values.message}
            maxLength={400}
            onChange={message => onChange({ message })}
          />
        ) : null}
      </div>
    </section>
  )
}

const HANDLE = /^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/

const getHandleProblem = (check: NameCheckRow, t: ReturnType<typeof useTexts>['t']) =>
  t(HANDLE.test(check.value) ? 'publish.handleTaken' : 'publish.handleInvalid')

interface FreeHintProps {
  check: NameCheckRow
  isChecking: boolean
  isHandle?: boolean
  /** The name is that of the public agent itself. */
  isOwn: boolean
}

function FreeHint({ check, isChecking, isHandle = false, isOwn }: FreeHintProps) {
  const { t } = useTexts()
  if (isChecking) return <span role="status">{t('publish.checking')}</span>
  if (!check.is_free) return null
  return (
    <span role="status" className="row">
      {isOwn ? null : (
        <span className="ok">
          <Check className="i s" aria-hidden />
          {t('publish.free')}
        </span>
      )}
      {isHandle ? <span>· {t('publish.handleStays')}</span> : null}
    </span>
  )
}

interface ProposalsProps {
  check: NameCheckRow
  isChecking: boolean
  onPick(value: string): void
}

/** Free names in place of one that is taken. */
function Proposals({ check, isChecking, onPick }: ProposalsProps) {
  const { t } = useTexts()
  if (isChecking || check.is_free || check.suggestions.length === 0) return null
  return (
    <p className={cx(styles.proposals, 'xs')}>
      {t('publish.tryInstead')}
      {check.suggestions.map(value => (
        <button key={value} type="button" className="link" onClick={() => onPick(value)}>
          {value}
        </button>
      ))}
    </p>
  )
}

interface LanguagesProps {
  values: readonly string[]
  onChange(languages: string[]): void
}

const MAX_LANGUAGES = 12

function Languages({ values, onChange }: LanguagesProps) {
  const { t } = useTexts()
  const toggle = (tag: string) =>
    onChange(values.includes(tag) ? values.filter(value => value !== tag) : [...values, tag].slice(0, MAX_LANGUAGES))
  const others = values.filter(value => !languageTags.some(tag => tag === value))
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>{t('directory.answersIn')}</legend>
      <div className={blocks.chips}>
        {[...languageTags, ...others].map(tag => (
          <button
            key={tag}
            type="button"
            className={cx(blocks.pick, styles.language)}
            aria-pressed={values.includes(tag)}
            onClick={() => toggle(tag)}
          >
            {nameLanguage(tag)}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

interface ExamplesProps extends Pick<ListingFieldsProps, 'onTry' | 'tryHint'> {
  values: readonly string[]
  onChange(examples: string[]): void
}

/** Up to four examples of what to ask. Each has a button that asks the agent the example. */
function Examples({ values, onTry, tryHint, onChange }: ExamplesProps) {
  const { t } = useTexts()
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>
        {t('publish.examples')}{' '}
        <span className="faint regular num">{t('publish.countOf', { n: values.length, most: MAX_EXAMPLES })}</span>
      </legend>
      <ul className={styles.examples}>
        {values.map((example, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an example has no other identity while it is typed
          <li key={at} className="row">
            <input
              className={fieldStyles.input}
              aria-label={t('publish.exampleNumber', { n: at + 1 })}
              value={example}
              maxLength={400}
              onChange={event => onChange(values.map((other, index) => (index === at ? event.target.value : other)))}
            />
            <Button
              size="xs"
              aria-label={t('publish.tryExample', { n: at + 1 })}
              title={tryHint}
              blocked={!example.trim() || onTry === null}
              onClick={() => onTry?.(example.trim())}
            >
              <Play className="i s" aria-hidden />
              {t('directory.try')}
            </Button>
            <IconButton
              small
              label={t('publish.removeExample', { n: at + 1 })}
              onClick={() => onChange(values.filter((_, index) => index !== at))}
            >
              <X className="i s" />
            </IconButton>
          </li>
        ))}
      </ul>
      {values.length < MAX_EXAMPLES ? (
        <div>
          <Button size="xs" onClick={() => onChange([...values, ''])}>
            <Plus className="i s" aria-hidden />
            {t('publish.addExample')}
          </Button>
        </div>
      ) : null}
      <span className="hint">{t('publish.examplesHint')}</span>
    </fieldset>
  )
}
