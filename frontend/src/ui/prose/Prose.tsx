import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { useTexts } from '@/lib/language'
import buttonStyles from '../Button.module.css'
import { getListClass, renderTokens } from './draw'
import { type FindName, FindNameContext } from './mentions'
import styles from './Prose.module.css'
import { MAX_MARKDOWN, Parser, type Part } from './parse'

/** Interval at which a streaming text is parsed again, in ms. */
const THROTTLE_MS = 200

interface ProseProps {
  text: string
  findName: FindName
  growing?: boolean
}

/**
 * Markdown without raw HTML, and without content that loads automatically (SEC10, SEC11). It is rendered block by block, in the
 * same way while it is streaming and afterwards, so that only changed blocks are rendered again.
 */
export function Prose({ text, findName, growing = false }: ProseProps) {
  const throttled = useThrottledText(text, growing)
  const [start, rest] = useMemo(() => splitAtLimit(throttled), [throttled])
  const [parser] = useState(() => new Parser())
  const parts = useMemo(() => parser.parse(start), [parser, start])
  return (
    <FindNameContext value={findName}>
      {parts ? <Parts parts={parts} growing={growing} /> : <Plain text={start} />}
      {rest ? <Rest text={rest} /> : null}
    </FindNameContext>
  )
}

export default Prose

function Plain({ text }: { text: string }) {
  return (
    <p className={styles.plain} dir="auto">
      {text}
    </p>
  )
}

function Parts({ parts, growing }: { parts: readonly Part[]; growing: boolean }) {
  const last = parts.length - 1
  return parts.map((part, index) =>
    part.items ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text only gets more parts at its end
      <List key={index} list={part} items={part.items} growing={growing && index === last} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text only gets more parts at its end
      <Block key={index} part={part} growing={growing && index === last} />
    ),
  )
}

function List({ list, items, growing }: { list: Part; items: readonly Part[]; growing: boolean }) {
  const [open] = list.tokens
  const renderedItems = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a list only gets more items at its end
    <Block key={index} part={item} growing={growing && index === items.length - 1} />
  ))
  if (open?.type === 'bullet_list_open') return <ul dir="auto">{renderedItems}</ul>
  const start = Number(open?.attrGet('start') ?? 1)
  return (
    <ol dir="auto" start={start} className={getListClass(start, items.length)}>
      {renderedItems}
    </ol>
  )
}

interface BlockProps {
  part: Part
  growing: boolean
}

const Block = memo(
  function Block({ part, growing }: BlockProps) {
    return renderTokens(part.tokens, growing)
  },
  (a, b) => a.part.source === b.part.source && a.growing === b.growing,
)

/** The text beyond `MAX_MARKDOWN`, shown on request. */
function Rest({ text }: { text: string }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <Plain text={text} />
  return (
    <p>
      <button type="button" className={buttonStyles.btn} onClick={() => setOpen(true)}>
        {t('showAll')}
      </button>
    </p>
  )
}

/** Splits a long text at `MAX_MARKDOWN`, at a line break if possible. */
function splitAtLimit(text: string): [string, string] {
  if (text.length <= MAX_MARKDOWN) return [text, '']
  const line = text.lastIndexOf('\n', MAX_MARKDOWN)
  const at = line > MAX_MARKDOWN / 2 ? line : MAX_MARKDOWN
  return [text.slice(0, at), text.slice(at).replace(/^\n/, '')]
}

/** Returns a streaming text a few times per second, and the whole text when it has ended. */
function useThrottledText(text: string, growing: boolean): string {
  const [throttled, setThrottled] = useState(text)
  const latest = useRef(text)
  useEffect(() => {
    latest.current = text
  }, [text])
  useEffect(() => {
    if (!growing) return
    const timer = setInterval(() => setThrottled(latest.current), THROTTLE_MS)
    return () => clearInterval(timer)
  }, [growing])
  return growing ? throttled : text
}
