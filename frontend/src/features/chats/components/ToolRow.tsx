import { Check, Clock, Wrench, X } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import type { ToolResponsePayload } from '@/api'
import { useTexts } from '@/lib/language'
import { count, seconds } from '@/lib/time'
import { Busy } from '@/ui/Busy'
import { Fold } from '@/ui/Fold'
import { inShort, type Part } from '../reply'

type ToolPart = Extract<Part, { kind: 'tool' }>

/** A tool call: one line when folded; its arguments as they stream, then the result. */
export const ToolRow = memo(function ToolRow({ part }: { part: ToolPart }) {
  const Icon = part.name.endsWith('_time') ? Clock : Wrench
  return (
    <Fold
      open={part.live}
      state={<State part={part} />}
      head={
        <>
          <Icon className="i s" aria-hidden />
          <span className="cut mono">
            <span className="fn">{part.name}</span> {inShort(part.args)}
          </span>
        </>
      }
    >
      <div className="b">
        <Arguments text={part.args} live={part.live} />
      </div>
      {part.response ? <div className="b res">{part.response.text}</div> : null}
    </Fold>
  )
})

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
