import { Check, Clock, Globe, Search, Wrench, X } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { ToolData, ToolResponsePayload, WebPage } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatNumber, formatSeconds } from '@/lib/time'
import { Collapsible } from '@/ui/Collapsible'
import { getHost } from '@/ui/prose/addresses'
import { Spinner } from '@/ui/Spinner'
import { type Part, summarizeArguments } from '../reply'
import { SearchResults } from './SearchResults'
import styles from './ToolCallPart.module.css'
import { WebPageResult } from './WebPageResult'

type ToolPart = Extract<Part, { kind: 'tool' }>

/** A tool call: collapsed to one line, or with its arguments as they stream and the result. */
export const ToolCallPart = memo(function ToolCallPart({ part }: { part: ToolPart }) {
  const Icon = getIcon(part.name)
  const data = part.response?.data ?? null
  return (
    <Collapsible
      open={part.live}
      state={<CallState part={part} />}
      head={
        <>
          <Icon className="i s" aria-hidden />
          {data?.kind === 'web_page' ? <PageHead name={part.name} page={data} /> : <CallHead part={part} />}
        </>
      }
    >
      <div className={styles.b}>
        <Arguments text={part.args} live={part.live} />
      </div>
      {data ? (
        <ToolResult data={data} />
      ) : part.response ? (
        <div className={cx(styles.b, styles.res)}>{part.response.text}</div>
      ) : null}
    </Collapsible>
  )
})

/** The result of a tool that is drawn instead of its text. */
function ToolResult({ data }: { data: ToolData }) {
  switch (data.kind) {
    case 'web_page':
      return <WebPageResult page={data} />
    case 'search_results':
      return <SearchResults data={data} />
    default:
      return data satisfies never
  }
}

const getIcon = (name: string) =>
  name === 'web_fetch' ? Globe : name === 'web_search' ? Search : name.endsWith('_time') ? Clock : Wrench

function CallHead({ part }: { part: ToolPart }) {
  return (
    <span className="cut mono">
      <span className={styles.fn}>{part.name}</span> {summarizeArguments(part.args)}
    </span>
  )
}

function PageHead({ name, page }: { name: string; page: WebPage }) {
  return (
    <span className="cut">
      <span className={cx(styles.fn, 'mono')}>{name}</span> {page.title}{' '}
      <span className={styles.host}>{getHost(page.url)}</span>
    </span>
  )
}

function CallState({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTexts()
  if (part.response) return <CallOutcome response={part.response} />
  return (
    <>
      <Spinner />
      {part.live
        ? t('argumentsChars', { count: part.args.length, n: formatNumber(part.args.length) })
        : t('toolRunning')}
    </>
  )
}

function CallOutcome({ response }: { response: ToolResponsePayload }) {
  const { t } = useTexts()
  const duration = response.seconds == null ? '' : t('secondsShort', { n: formatSeconds(response.seconds) })
  if (response.status === 'ok') {
    return (
      <>
        <span className="ok">
          <Check className="i s" aria-label={t('tool.ok')} />
        </span>
        {duration}
      </>
    )
  }
  return (
    <span className="no">
      <X className="i s" aria-hidden />
      {t(`tool.${response.status}`)}
    </span>
  )
}

/** The JSON of the arguments with grey keys. Incomplete JSON is shown as it is. */
function Arguments({ text, live }: { text: string; live: boolean }) {
  const parts = text.split(/("(?:[^"\\]|\\.)*"\s*:)/)
  return (
    <>
      {parts.map((part, index) =>
        index % 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
          <span key={index} className={styles.k}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
      {live ? <i className={styles.caret} /> : null}
    </>
  )
}
