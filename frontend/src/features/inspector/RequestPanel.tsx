import { Copy, Lock } from 'lucide-react'
import { useState } from 'react'
import { type SentBlockRow, type SentRequestRow, useSentRequest } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { getRunErrorText } from '@/lib/runErrors'
import { detectLanguage } from '@/lib/textLanguage'
import { formatNumber, formatSeconds } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { copyText } from '@/ui/copy'
import { Loading } from '@/ui/Loading'
import { Segments } from '@/ui/Segments'
import { showToast } from '@/ui/toast'
import styles from './Inspector.module.css'

type View = 'sent' | 'answered' | 'json'

/** A request to a model as it was sent, its answer, and both as JSON. For editors. */
export function RequestPanel({ runId, requestId }: { runId: string; requestId: string }) {
  const { t } = useTexts()
  const query = useSentRequest(runId, requestId)
  const [view, setView] = useState<View>('sent')
  const request = query.data
  return (
    <aside className={styles.request} aria-label={t('inspector.request')}>
      <header className={styles.requestHead}>
        <h3 className="cut">
          {request ? t('inspector.part.model', { n: request.number }) : t('inspector.request')}
          {request ? <span className="faint xs regular"> {request.model}</span> : null}
        </h3>
        <Segments
          label={t('inspector.view')}
          value={view}
          options={[
            { value: 'sent', label: t('inspector.view.sent') },
            { value: 'answered', label: t('inspector.view.answered') },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={setView}
        />
      </header>
      {request ? <RequestContent request={request} view={view} /> : <Loading query={query} lines={6} />}
    </aside>
  )
}

export function RequestContent({ request, view }: { request: SentRequestRow; view: View }) {
  if (view === 'sent') return <Sent request={request} />
  if (view === 'answered') return <Answered request={request} />
  return <pre className={styles.json}>{JSON.stringify(request, null, 2)}</pre>
}

const groups = [
  'prompt',
  'chat',
  'tool',
  'pages',
  'memory',
  'pinned',
  'retrieved',
  'summary',
  'events',
  'message',
] as const satisfies SentBlockRow['kind'][]

function Sent({ request }: { request: SentRequestRow }) {
  const { t } = useTexts()
  const { blocks: sent } = request
  if (!sent) return <p className={styles.note}>{t('inspector.removed', { count: request.kept_days })}</p>
  const total = sent.reduce((sum, block) => sum + block.tokens, 0)
  const copy = async () => {
    const isCopied = await copyText(JSON.stringify(request, null, 2))
    showToast(t(isCopied ? 'inspector.copied' : 'copyFailed'))
  }
  return (
    <div className={styles.sent}>
      <div className={styles.share} aria-hidden>
        {groups.map(group => {
          const tokens = sent.filter(block => block.kind === group).reduce((sum, block) => sum + block.tokens, 0)
          return tokens ? <i key={group} data-block={group} style={{ flexGrow: tokens }} /> : null
        })}
      </div>
      <p className="row xs muted">
        {request.input_tokens
          ? t('inspector.exactly', { n: formatNumber(request.input_tokens) })
          : t('inspector.about', { n: formatNumber(total) })}
        <Button size="xs" className="end" onClick={() => void copy()}>
          <Copy className="i s" aria-hidden />
          {t('copy')}
        </Button>
      </p>
      {request.is_shortened ? <p className="xs muted">{t('inspector.shortened')}</p> : null}
      <ol className={styles.blocks}>
        {sent.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a request never changes
          <Block key={index} block={block} />
        ))}
      </ol>
      <Parameters request={request} />
    </div>
  )
}

/** Characters of a text that are shown before it is expanded. */
const COLLAPSED = 600

function LongText({ text }: { text: string }) {
  const { t } = useTexts()
  const [isExpanded, setExpanded] = useState(false)
  if (isExpanded || text.length <= COLLAPSED) return text
  return (
    <>
      {text.slice(0, COLLAPSED)}…{' '}
      <button type="button" className="link" onClick={() => setExpanded(true)}>
        {t('inspector.more')}
      </button>
    </>
  )
}

function Block({ block }: { block: SentBlockRow }) {
  const { t } = useTexts()
  return (
    <li data-block={block.kind}>
      <span className={styles.label}>
        <i data-block={block.kind} aria-hidden />
        {block.kind === 'message'
          ? t(`inspector.role.${block.role as 'user'}`)
          : block.kind === 'tool'
            ? t('inspector.block.tool')
            : t(`inspector.block.${block.kind}`)}
        {block.name ? <code className="mono xs cut">{block.name}</code> : null}
      </span>
      <div className={styles.text} lang={detectLanguage(block.text.slice(0, COLLAPSED))}>
        {block.blanked ? (
          <span className={cx(blocks.badge, styles.blanked)}>
            <Lock className="i" aria-hidden />
            {t(`inspector.blanked.${block.blanked}`)}
          </span>
        ) : (
          <LongText text={block.text} />
        )}
        {block.calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a request never changes
          <code key={index} className={styles.call}>
            {call.name} {call.arguments}
          </code>
        ))}
        {block.provider_fields ? (
          <>
            <span className={styles.caption}>{t('inspector.providerFields')}</span>
            <code className={styles.call}>
              <LongText text={block.provider_fields} />
            </code>
          </>
        ) : null}
        {block.images ? <span className="faint"> {t('inspector.images', { count: block.images })}</span> : null}
      </div>
      <span className={styles.number}>{formatNumber(block.tokens)}</span>
    </li>
  )
}

function Parameters({ request }: { request: SentRequestRow }) {
  const { t } = useTexts()
  const rows: [string, string][] = Object.entries(request.parameters).map(([name, value]) => [name, String(value)])
  rows.push([t('inspector.tries'), formatNumber(request.tries)])
  if (request.seconds !== null)
    rows.push([t('inspector.took'), t('inspector.seconds', { n: formatSeconds(request.seconds) })])
  if (request.finish) rows.push([t('inspector.finish'), request.finish])
  return (
    <dl className={styles.parameters}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Answered({ request }: { request: SentRequestRow }) {
  const { t } = useTexts()
  const isEmpty = !request.answer_text && !request.answer_thinking && request.answer_calls.length === 0
  return (
    <div className={styles.sent}>
      {request.error_code ? <p className="no sm">{getRunErrorText(request.error_code)}</p> : null}
      {isEmpty && !request.error_code ? <p className={styles.note}>{t('inspector.noAnswer')}</p> : null}
      {request.answer_thinking ? (
        <>
          <h4 className={styles.caption}>{t('inspector.thinking')}</h4>
          <p className={styles.answer}>{request.answer_thinking}</p>
        </>
      ) : null}
      {request.answer_text ? (
        <p className={styles.answer} lang={detectLanguage(request.answer_text)}>
          {request.answer_text}
        </p>
      ) : null}
      {request.answer_calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an answer never changes
        <code key={index} className={styles.call}>
          {call.name} {call.arguments}
        </code>
      ))}
      <p className="faint xs">{t('inspector.answerTokens', { n: formatNumber(request.output_tokens) })}</p>
    </div>
  )
}
