import { type FormEvent, useState } from 'react'
import {
  type BudgetChange,
  type BudgetRow,
  type BudgetScope,
  changeBudget,
  createBudget,
  deleteBudget,
  deletePrice,
  type ModelPriceRow,
  type NewBudget,
  type NewPrice,
  setPrice,
  useAgents,
  useBudgetAction,
  useBudgets,
  useMembers,
  useModelProviders,
  usePrices,
  type WorkspaceRow,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { listKeys } from '@/lib/listKeys'
import { formatCurrency } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { RowForm } from '@/ui/RowForm'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { BoardSettings } from './BoardSettings'
import { BudgetMeter, getBudgetName } from './BudgetMeter'
import { type BudgetUnit, getAmounts, getUnit, parseDollars, parseTokens } from './budgets'
import styles from './Usage.module.css'

const MICRO = 1_000_000
const units = listKeys<BudgetUnit>({ micro: true, tokens: true })
const limitLabels = { micro: 'budget.limit', tokens: 'budget.limitTokens' } as const
const parseLimit = (text: string, unit: BudgetUnit) => (unit === 'micro' ? parseDollars(text) : parseTokens(text))
const scopes = listKeys<BudgetScope>({ workspace: true, person: true, agent: true, run_tree: true })
const periods = ['day', 'month'] as const

/** The budgets of a workspace and the prices of models. Editors change those that no operator has set. */
export function BudgetSettings({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const mayChange = workspace.verbs.includes('set_budgets')
  const query = useBudgets(workspace.id)
  const budgets = query.data
  return (
    <>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('settings.budgets')}</h2>
        <div className={cx(blocks.b, 'col gap')}>
          <p className="muted sm">{t('budget.hint', { zone: workspace.time_zone })}</p>
          {budgets === undefined ? (
            <Loading query={query} lines={3} />
          ) : (
            <ul className={styles.budgets}>
              {budgets.map(row => (
                <li key={row.id}>
                  <BudgetMeter row={row} />
                  {mayChange && !row.by_operator ? (
                    <RowForm row={row} revision={row.revision}>
                      {(row, onSaved) => <BudgetForm workspaceId={workspace.id} row={row} onSaved={onSaved} />}
                    </RowForm>
                  ) : null}
                </li>
              ))}
            </ul>
          )}
          {budgets?.length === 0 ? <p className="muted">{t('budget.none')}</p> : null}
        </div>
      </section>
      {mayChange ? <NewBudgetForm workspace={workspace} /> : <p className="faint sm">{t('budget.editorsSet')}</p>}
      <BoardSettings workspace={workspace} />
      <Prices workspace={workspace} mayChange={mayChange} />
    </>
  )
}

const showError = (error: Error) => showToast(getErrorText(error))

interface BudgetFormProps {
  workspaceId: string
  row: BudgetRow
  onSaved(): void
}

function BudgetForm({ workspaceId, row, onSaved }: BudgetFormProps) {
  const texts = useTexts()
  const { t } = texts
  const unit = getUnit(row)
  const present = getAmounts(row).limit
  const [limit, setLimit] = useState(String(unit === 'micro' ? present / MICRO : present))
  const [refuses, setRefuses] = useState(row.refuses_unpriced)
  const change = useBudgetAction(workspaceId, (body: BudgetChange) => changeBudget(row.id, body))
  const remove = useBudgetAction(workspaceId, () => deleteBudget(row.id))
  const amount = parseLimit(limit, unit)
  const name = `${getBudgetName(row, texts)}, ${t(`budget.period.${row.period}`)}`
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (amount === null) return
    const body: BudgetChange = { [`limit_${unit}`]: amount, refuses_unpriced: refuses, revision: row.revision }
    change.mutate(body, { onSuccess: onSaved, onError: showError })
  }
  return (
    <form className={styles.form} onSubmit={save}>
      <TextField label={t(limitLabels[unit])} inputMode="decimal" value={limit} onChange={setLimit} />
      {unit === 'micro' ? <RefusesUnpriced checked={refuses} onChange={setRefuses} /> : null}
      <div className={styles.controls}>
        <Button
          type="submit"
          blocked={amount === null || (amount === present && refuses === row.refuses_unpriced)}
          busy={change.isPending ? t('saving') : null}
        >
          {t('saveChanges')}
        </Button>
        <Button
          tone="bad"
          aria-label={t('budget.deleteNamed', { name })}
          busy={remove.isPending ? t('saving') : null}
          onClick={() => remove.mutate(undefined, { onError: showError })}
        >
          {t('budget.delete')}
        </Button>
      </div>
    </form>
  )
}

/** Whether a budget in dollars refuses models without a known price, which it could not count. */
function RefusesUnpriced({ checked, onChange }: { checked: boolean; onChange(checked: boolean): void }) {
  const { t } = useTexts()
  return (
    <div className={styles.option}>
      <Switch label={t('budget.refusesUnpriced')} on={checked} onChange={onChange} />
      <span className="col">
        {t('budget.refusesUnpriced')}
        <span className="hint">{t('budget.refusesHint')}</span>
      </span>
    </div>
  )
}

function NewBudgetForm({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const [scope, setScope] = useState<BudgetScope>('workspace')
  const [period, setPeriod] = useState<(typeof periods)[number]>('month')
  const [subject, setSubject] = useState('')
  const [unit, setUnit] = useState<BudgetUnit>('micro')
  const [limit, setLimit] = useState('')
  const [refuses, setRefuses] = useState(true)
  const members = useMembers(workspace.id).data ?? []
  const agents = useAgents(workspace.id).data ?? []
  const create = useBudgetAction(workspace.id, (body: NewBudget) => createBudget(workspace.id, body))
  const subjects =
    scope === 'person'
      ? members.map(({ actor }) => ({ value: actor.id, label: actor.name }))
      : agents.map(({ actor }) => ({ value: actor.id, label: actor.name }))
  const amount = parseLimit(limit, unit)
  const add = (event: FormEvent) => {
    event.preventDefault()
    if (amount === null) return
    const body: NewBudget = {
      scope,
      period: scope === 'run_tree' ? 'run' : period,
      [`limit_${unit}`]: amount,
      refuses_unpriced: refuses,
      ...(subject ? { subject_id: subject } : {}),
    }
    create.mutate(body, { onSuccess: () => setLimit(''), onError: showError })
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('budget.new')}</h2>
      <form className={cx(blocks.b, styles.form)} onSubmit={add}>
        <SelectField
          label={t('budget.scope')}
          value={scope}
          options={scopes.map(value => ({ value, label: t(`budget.scope.${value}`) }))}
          onChange={value => {
            setScope(value)
            setSubject('')
          }}
        />
        {scope === 'person' || scope === 'agent' ? (
          <SelectField
            label={t(`usage.${scope}`)}
            value={subject}
            options={[{ value: '', label: t(`budget.scope.${scope}`) }, ...subjects]}
            onChange={setSubject}
          />
        ) : null}
        {scope === 'run_tree' ? null : (
          <SelectField<(typeof periods)[number]>
            label={t('budget.period')}
            value={period}
            options={periods.map(value => ({ value, label: t(`budget.period.${value}`) }))}
            onChange={value => setPeriod(value)}
          />
        )}
        <SelectField<BudgetUnit>
          label={t('budget.unit')}
          value={unit}
          options={units.map(value => ({ value, label: t(`budget.unit.${value}`) }))}
          onChange={setUnit}
        />
        <TextField label={t(limitLabels[unit])} inputMode="decimal" required value={limit} onChange={setLimit} />
        {unit === 'micro' ? <RefusesUnpriced checked={refuses} onChange={setRefuses} /> : null}
        <Button type="submit" tone="ink" blocked={amount === null} busy={create.isPending ? t('saving') : null}>
          {t('budget.add')}
        </Button>
      </form>
    </section>
  )
}

function Prices({ workspace, mayChange }: { workspace: WorkspaceRow; mayChange: boolean }) {
  const { t } = useTexts()
  const query = usePrices(workspace.id)
  const prices = query.data
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('price.title')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        <p className="muted sm">{t('price.hint')}</p>
        {prices === undefined ? (
          <Loading query={query} lines={2} />
        ) : (
          <ul className={blocks.rows}>
            {prices.map(row => (
              <PriceItem key={row.id} row={row} workspaceId={workspace.id} mayChange={mayChange} />
            ))}
          </ul>
        )}
        {mayChange ? <PriceForm workspaceId={workspace.id} /> : null}
      </div>
    </section>
  )
}

interface PriceItemProps {
  row: ModelPriceRow
  workspaceId: string
  mayChange: boolean
}

function PriceItem({ row, workspaceId, mayChange }: PriceItemProps) {
  const { t } = useTexts()
  const remove = useBudgetAction(workspaceId, () => deletePrice(row.id))
  const provider = useModelProviders().data?.find(each => each.name === row.provider)?.label ?? row.provider
  const name = `${provider} · ${row.model || t('price.allModels')}`
  return (
    <li>
      <span className="grow cut">
        {name}
        {row.by_operator ? <span className="faint"> · {t('budget.byOperator')}</span> : null}
      </span>
      <span className="num">
        {formatCurrency(row.input_micro)} / {formatCurrency(row.output_micro)}
      </span>
      {mayChange && !row.by_operator ? (
        <Button
          size="xs"
          aria-label={t('budget.deleteNamed', { name })}
          onClick={() => remove.mutate(undefined, { onError: showError })}
        >
          {t('budget.delete')}
        </Button>
      ) : null}
    </li>
  )
}

function PriceForm({ workspaceId }: { workspaceId: string }) {
  const { t } = useTexts()
  const providers = (useModelProviders().data ?? []).filter(each => each.name !== 'demo')
  const [provider, setProvider] = useState<string>('openai_compatible')
  const [model, setModel] = useState('')
  const [input, setInput] = useState('')
  const [output, setOutput] = useState('')
  const save = useBudgetAction(workspaceId, (body: NewPrice) => setPrice(workspaceId, body))
  const [inputMicro, outputMicro] = [parseDollars(input), parseDollars(output)]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (inputMicro === null || outputMicro === null) return
    save.mutate(
      { provider: provider as NewPrice['provider'], model, input_micro: inputMicro, output_micro: outputMicro },
      { onError: showError },
    )
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <SelectField
        label={t('price.provider')}
        value={provider}
        options={providers.map(each => ({ value: each.name as string, label: each.label }))}
        onChange={setProvider}
      />
      <TextField label={t('usage.model')} value={model} placeholder={t('price.allModels')} onChange={setModel} />
      <TextField label={t('price.input')} inputMode="decimal" required value={input} onChange={setInput} />
      <TextField label={t('price.output')} inputMode="decimal" required value={output} onChange={setOutput} />
      <Button
        type="submit"
        blocked={inputMicro === null || outputMicro === null}
        busy={save.isPending ? t('saving') : null}
      >
        {t('price.set')}
      </Button>
    </form>
  )
}
