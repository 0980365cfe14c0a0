import { Check, Clock, Globe, Wrench, X } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { ToolResponsePayload } from '@/api'
import { useTexts } from '@/lib/language'
import { count, seconds } from '@/lib/time'
import { Busy } from '@/ui/Busy'
import { Fold } from '@/ui/Fold'
import { hostOf } from '@/ui/prose/parts'
import { inShort, type Part } from '../reply'
import { type WebPage, webPageOf } from '../webPage'
import { WebPageResult } from './WebPageResult'

type ToolPart = Extract<Part, { kind: 'tool' }>

/** A tool call: one line when folded; its arguments as they stream, then the result. */
export const ToolRow = memo(function ToolRow({ part }: { part: ToolPart }) {
  const Icon = iconOf(part.name)
  const page = part.name === 'web_fetch' && part.response?.status === 'ok' ? webPageOf(part.response.text) : null
  return (
    <Fold
      open={part.live}
      state={<State part={part} />}
      head={
        <>
          <Icon className="i s" aria-hidden />
          {page ? <PageHead name={part.name} page={page} /> : <CallHead part={part} />}
        </>
      }
    >
      <div className="b">
        <Arguments text={part.args} live={part.live} />
      </div>
      {page ? <WebPageResult page={page} /> : part.response ? <div className="b res">{part.response.text}</div> : null}
    </Fold>
  )
})

const iconOf = (name: string) => (name === 'web_fetch' ? Globe : name.endsWith('_time') ? Clock : Wrench)

function CallHead({ part }: { part: ToolPart }) {
  return (
    <span className="cut mono">
      <span className="fn">{part.name}</span> {inShort(part.args)}
    </span>
  )
}

function PageHead({ name, page }: { name: string; page: WebPage }) {
  return (
    <span className="cut">
      <span className="fn mono">{name}</span> {page.title} <span className="host">{hostOf(page.url)}</span>
    </span>
  )
}

function State({ part }: { part: ToolPart }): ReactNode {
  const { t } = useTexts()
  if (part.response) return <Outcome response={part.response} />
  return (
    <>
      <Busy />
      {part.live ? t('argumentsChars', { count: part.args.length, n: count(part.args.length) }) : t('toolRunning')}
    </>
  )
}

function Outcome({ response }: { response: ToolResponsePayload }) {
  const { t } = useTexts()
  const took = response.seconds == null ? '' : t('secondsShort', { n: seconds(response.seconds) })
  if (response.status === 'ok') {
    return (
      <>
        <span className="ok">
          <Check className="i s" aria-label={t('tool.ok')} />
        </span>
        {took}
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

/** The model's own JSON, its names in grey; what is not whole yet is shown as it came. */
function Arguments({ text, live }: { text: string; live: boolean }) {
  const parts = text.split(/("(?:[^"\\]|\\.)*"\s*:)/)
  return (
    <>
      {parts.map((part, index) =>
        index % 2 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
          <span key={index} className="k">
            {part}
          </span>
        ) : (
          part
        ),
      )}
      {live ? <i className="caret" /> : null}
    </>
  )
}
