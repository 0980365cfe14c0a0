import { Download, TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  type BudgetRow,
  getUsageExportUrl,
  type UsageFilter,
  type UsageGroup,
  type UsageReportRow,
  type UsageRow,
  useBudgets,
  useUsage,
  type WorkspaceRow,
} from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { listKeys } from '@/lib/listKeys'
import { formatCalendarDay, formatCurrency, formatFullTime, formatNumber } from '@/lib/time'
import { Button } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { Segments } from '@/ui/Segments'
import { BarChart } from './BarChart'
import { BudgetMeter } from './BudgetMeter'
import { getShare } from './budgets'
import {
  findDayOfLimit,
  getPeriod,
  getToday,
  isWholeMonth,
  listDays,
  type Period,
  type Preset,
  presets,
} from './period'
import { chooseSeries, OTHERS_COLOUR, OTHERS_KEY, type Series, sumByDay } from './series'
import styles from './Usage.module.css'

const groups = listKeys<UsageGroup>({ agent: true, version: true, person: true, model: true, tree: true })

interface UsagePageProps {
  workspace: WorkspaceRow
  /** A link to the budgets in the settings. */
  budgetsLink(label: string): ReactNode
}

/** What the models of a workspace cost: totals, a chart by day, a table by group, and the budgets. */
export function UsagePage({ workspace, budgetsLink }: UsagePageProps) {
  const { t } = useTexts()
  const today = getToday(workspace.time_zone)
  const [preset, setPreset] = useState<Preset>('month')
  const [custom, setCustom] = useState<Period>(() => getPeriod('month', today))
  const [group, setGroup] = useState<UsageGroup>('agent')
  const period = preset === 'custom' ? custom : getPeriod(preset, today)
  const filter: UsageFilter = { ...period, group }
  const query = useUsage(workspace.id, filter)
  const report = query.data
  const ofMonth = (row: BudgetRow) =>
    row.scope === 'workspace' && row.period === 'month' && !row.by_operator && row.limit_micro !== null
  const budget = useBudgets(workspace.id).data?.find(ofMonth)
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <h1 className="cut">{t('usage.title')}</h1>
        <span className={cx(styles.controls, 'end')}>
          <select
            className={fieldStyles.select}
            aria-label={t('usage.period')}
            value={preset}
            onChange={event => setPreset(event.target.value as Preset)}
          >
            {presets.map(each => (
              <option key={each} value={each}>
                {t(`usage.period.${each}`)}
              </option>
            ))}
          </select>
          <a className={buttonStyles.btn} href={getUsageExportUrl(workspace.id, filter)} download>
            <Download className="i s" aria-hidden />
            CSV
          </a>
        </span>
      </header>
      <div className={cx(layout.page, layout.pad)}>
        <div className={styles.page}>
          {preset === 'custom' ? <DayFields period={custom} onChange={setCustom} /> : null}
          {report === undefined ? (
            <Loading query={query} lines={8} />
          ) : (
            <Report report={report} group={group} onGroup={setGroup} today={today} budget={budget}>
              <BudgetBox workspaceId={workspace.id} budgetsLink={budgetsLink} />
            </Report>
          )}
        </div>
      </div>
    </main>
  )
}

function DayFields({ period, onChange }: { period: Period; onChange(period: Period): void }) {
  const { t } = useTexts()
  const names = ['startsOn', 'endsOn'] as const
  return (
    <div className={styles.controls}>
      {names.map(name => (
        <label key={name} className="row">
          {t(`usage.${name}`)}
          <input
            type="date"
            className={fieldStyles.input}
            value={period[name]}
            onChange={event => event.target.value && onChange({ ...period, [name]: event.target.value })}
          />
        </label>
      ))}
    </div>
  )
}

interface ReportProps {
  report: UsageReportRow
  group: UsageGroup
  onGroup(group: UsageGroup): void
  today: string
  /** The budget of the whole workspace for a month. */
  budget: BudgetRow | undefined
  children: ReactNode
}

function Report({ report, group, onGroup, today, budget, children }: ReportProps) {
  const { t } = useTexts()
  const [isTable, setTable] = useState(false)
  const nameOf = (row: UsageRow) => {
    if (!row.name) return t(report.group === 'person' ? 'usage.nobody' : 'usage.modelTests')
    if (report.group !== 'version') return row.name
    return row.version ? `${row.name} v${row.version}` : t('usage.draftsOf', { name: row.name })
  }
  // The days of a report by trees are grouped by agents.
  const largest = report.group === 'tree' ? sumUp(report.days) : report.rows
  const series = chooseSeries(largest, nameOf)
  const days = listDays({ startsOn: report.starts_on, endsOn: report.ends_on }, today)
  const amounts = sumByDay(days, report.days, series)
  const hasOthers = amounts.some(row => (row.at(-1) ?? 0) > 0)
  const legend = hasOthers
    ? [...series, { key: OTHERS_KEY, name: t('usage.others'), colour: `var(${OTHERS_COLOUR})` }]
    : series
  const colours = [...series.map(each => each.colour), `var(${OTHERS_COLOUR})`]
  const total = formatCurrency(report.totals.cost_micro)
  return (
    <>
      <Figures
        report={report}
        limit={(isWholeMonth(report.starts_on, report.ends_on) && budget?.limit_micro) || null}
      />
      <section className={blocks.sec}>
        <h2 className={blocks.h}>
          {t('usage.byDay')}
          <ul className={cx(styles.legend, 'end')}>
            {legend.map(each => (
              <li key={each.key}>
                <span className={styles.swatch} style={{ background: each.colour }} aria-hidden />
                {each.name}
              </li>
            ))}
          </ul>
          <Button size="xs" onClick={() => setTable(!isTable)}>
            {t(isTable ? 'usage.showChart' : 'usage.showTable')}
          </Button>
        </h2>
        {isTable ? (
          <DayTable days={days} amounts={amounts} series={legend} />
        ) : (
          <BarChart
            label={t('usage.chartLabel', { days: days.length, total })}
            days={days}
            amounts={amounts}
            colours={colours}
          />
        )}
      </section>
      <div className={styles.boxes}>
        <section className={blocks.sec}>
          <h2 className={blocks.h}>
            <Segments
              label={t('usage.group')}
              value={group}
              options={groups.map(value => ({ value, label: t(`usage.${value}`) }))}
              onChange={onGroup}
            />
          </h2>
          <GroupTable report={report} nameOf={nameOf} series={report.group === 'tree' ? [] : series} />
        </section>
        {children}
      </div>
    </>
  )
}

/** Returns one row for each group of the rows by day, those with the highest costs first. */
function sumUp(rows: readonly UsageRow[]): UsageRow[] {
  const sums = new Map<string, UsageRow>()
  for (const row of rows) {
    if (row.key === OTHERS_KEY) continue
    const sum = sums.get(row.key)
    sums.set(row.key, sum ? { ...sum, cost_micro: sum.cost_micro + row.cost_micro } : row)
  }
  return [...sums.values()].sort((one, other) => other.cost_micro - one.cost_micro)
}

/** The totals. `limit`: of the budget in dollars for the month which the report shows. */
function Figures({ report, limit }: { report: UsageReportRow; limit: number | null }) {
  const { t } = useTexts()
  const { totals } = report
  const pace = totals.pace_micro ?? null
  const reachedOn =
    limit !== null && pace !== null ? findDayOfLimit(report.starts_on, report.ends_on, pace, limit) : null
  const share = totals.cost_micro > 0 ? Math.round((totals.draft_micro / totals.cost_micro) * 100) : 0
  return (
    <div className={styles.figures}>
      <div>
        <span className="muted sm">{t('usage.spent')}</span>
        <b className="num">{formatCurrency(totals.cost_micro)}</b>
        {limit !== null && pace !== null ? (
          <span className="faint sm">
            {t('usage.ofBudget', {
              limit: formatCurrency(limit),
              percent: Math.round(getShare(totals.cost_micro, limit) * 100),
            })}
          </span>
        ) : null}
        {totals.unpriced_calls > 0 ? (
          <span className="faint sm">
            <TriangleAlert className="i s" aria-hidden /> {t('usage.unpriced', { count: totals.unpriced_calls })}
          </span>
        ) : null}
      </div>
      {pace === null ? null : (
        <div>
          <span className="muted sm">{t('usage.pace', { day: formatCalendarDay(totals.pace_until ?? '') })}</span>
          <b className="num">{formatCurrency(pace)}</b>
          {limit !== null && reachedOn ? (
            <span className="no sm">
              <TriangleAlert className="i s" aria-hidden />{' '}
              {t('usage.reaches', { limit: formatCurrency(limit), day: formatCalendarDay(reachedOn) })}
            </span>
          ) : null}
        </div>
      )}
      <div>
        <span className="muted sm">{t('usage.runs')}</span>
        <b className="num">{formatNumber(totals.runs)}</b>
        <span className="faint sm">
          {t('usage.calls', {
            n: formatNumber(totals.calls),
            stopped: formatNumber(totals.stopped_calls),
            failed: formatNumber(totals.failed_calls),
          })}
        </span>
      </div>
      <div>
        <span className="muted sm">{t('usage.drafts')}</span>
        <b className="num">{formatCurrency(totals.draft_micro)}</b>
        <span className="faint sm">{t('usage.ofAll', { percent: share })}</span>
      </div>
    </div>
  )
}

interface DayTableProps {
  days: readonly string[]
  amounts: readonly (readonly number[])[]
  series: readonly Series[]
}

/** The same figures as the chart. */
function DayTable({ days, amounts, series }: DayTableProps) {
  const { t } = useTexts()
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th>{t('usage.day')}</th>
            {series.map(each => (
              <th key={each.key} className={styles.number}>
                {each.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}>
              <td>{formatCalendarDay(day)}</td>
              {series.map((each, at) => (
                <td key={each.key} className={styles.number}>
                  {formatCurrency(amounts[index]?.[at] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface GroupTableProps {
  report: UsageReportRow
  nameOf(row: UsageRow): string
  /** The groups that have a colour in the chart; empty if the chart shows other groups than the table. */
  series: readonly Series[]
}

function GroupTable({ report, nameOf, series }: GroupTableProps) {
  const { t } = useTexts()
  const { rows, totals, group } = report
  const highest = Math.max(1, ...rows.map(row => row.cost_micro))
  const colourOf = (row: UsageRow) => series.find(each => each.key === row.key)?.colour ?? `var(${OTHERS_COLOUR})`
  if (rows.length === 0) return <p className={cx(blocks.b, 'muted')}>{t('usage.none')}</p>
  return (
    <div className={cx(blocks.b, styles.scroll)}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th>{t(`usage.${group}`)}</th>
            {group === 'model' ? null : <th className={styles.wide}>{t('usage.model')}</th>}
            <th className={styles.number}>{t('usage.runs')}</th>
            <th className={styles.number}>{t('usage.tokens')}</th>
            <th className={cx(styles.number, styles.wide)}>{t('usage.onDrafts')}</th>
            <th className={styles.number}>{t('usage.cost')}</th>
            <th className={styles.wide} aria-hidden />
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.key}>
              <td>
                <span className={styles.named}>
                  {series.length > 0 ? (
                    <span className={styles.swatch} style={{ background: colourOf(row) }} aria-hidden />
                  ) : null}
                  <span className="cut">
                    {nameOf(row)}
                    {row.starts_at ? <span className="faint"> · {formatFullTime(row.starts_at)}</span> : null}
                  </span>
                </span>
              </td>
              {group === 'model' ? null : <td className={cx(styles.wide, 'muted')}>{row.models.join(', ')}</td>}
              <td className={styles.number}>{formatNumber(row.runs)}</td>
              <td className={styles.number}>{formatNumber(row.input_tokens + row.output_tokens)}</td>
              <td className={cx(styles.number, styles.wide)}>
                {row.cost_micro > 0 ? Math.round((row.draft_micro / row.cost_micro) * 100) : 0}%
              </td>
              <td className={styles.number}>
                <b>{row.calls === row.unpriced_calls ? t('usage.priceUnknown') : formatCurrency(row.cost_micro)}</b>
              </td>
              <td className={styles.wide} aria-hidden>
                <div className={styles.bar}>
                  <span style={{ width: `${(row.cost_micro / highest) * 100}%`, background: colourOf(row) }} />
                </div>
              </td>
            </tr>
          ))}
          <tr>
            <td>
              <b>{t('usage.all')}</b>
            </td>
            {group === 'model' ? null : <td className={styles.wide} />}
            <td className={styles.number}>{formatNumber(totals.runs)}</td>
            <td className={styles.number}>{formatNumber(totals.input_tokens + totals.output_tokens)}</td>
            <td className={cx(styles.number, styles.wide)}>
              {totals.cost_micro > 0 ? Math.round((totals.draft_micro / totals.cost_micro) * 100) : 0}%
            </td>
            <td className={styles.number}>
              <b>{formatCurrency(totals.cost_micro)}</b>
            </td>
            <td className={styles.wide} aria-hidden />
          </tr>
        </tbody>
      </table>
    </div>
  )
}

function BudgetBox({ workspaceId, budgetsLink }: { workspaceId: string } & Pick<UsagePageProps, 'budgetsLink'>) {
  const { t } = useTexts()
  const query = useBudgets(workspaceId)
  const budgets = query.data
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('settings.budgets')}
        <span className="end">{budgetsLink(t('budget.change'))}</span>
      </h2>
      <div className={blocks.b}>
        {budgets === undefined ? (
          <Loading query={query} lines={3} />
        ) : budgets.length === 0 ? (
          <p className="muted">{t('budget.none')}</p>
        ) : (
          <ul className={styles.budgets}>
            {budgets.map(row => (
              <li key={row.id}>
                <BudgetMeter row={row} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}
