import { type ReactNode, useEffect, useState } from 'react'
import { highlightCode } from './colours'
import { CodeBlock } from './parts'

interface CodeProps {
  text: string
  language: string
  /** Whether the text is still streaming: then it is not highlighted. */
  isGrowing: boolean
}

/** Longer code is not highlighted, because it takes too long. */
const MAX_LENGTH = 20_000
const MAX_LINE_LENGTH = 1_000

const canHighlight = (text: string) =>
  text.length <= MAX_LENGTH && text.split('\n').every(line => line.length <= MAX_LINE_LENGTH)

/** A block of code, which is highlighted asynchronously if its language is known. */
export function Code({ text, language, isGrowing }: CodeProps) {
  const [highlighted, setHighlighted] = useState<{ text: string; nodes: ReactNode } | null>(null)
  useEffect(() => {
    if (isGrowing || language === '' || !canHighlight(text)) return
    let isCurrent = true
    highlightCode(text, language).then(
      nodes => isCurrent && nodes && setHighlighted({ text, nodes }),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [text, language, isGrowing])
  return (
    <CodeBlock language={language} code={text}>
      {highlighted?.text === text ? highlighted.nodes : text}
    </CodeBlock>
  )
}
