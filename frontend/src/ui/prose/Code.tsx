import { type ReactNode, useEffect, useState } from 'react'
import { colourOf } from './colours'
import { CodeBlock } from './parts'

interface CodeProps {
  text: string
  language: string
  /** It may still go on: then it is left without colours. */
  isGrowing: boolean
}

/** Longer code is not worth the wait for its colours. */
const MAX_COLOURED = 20_000
const MAX_LINE = 1_000

const isWorthIt = (text: string) =>
  text.length <= MAX_COLOURED && text.split('\n').every(line => line.length <= MAX_LINE)

/** A block of code; its colours come a moment later, when its language is known. */
export function Code({ text, language, isGrowing }: CodeProps) {
  const [coloured, setColoured] = useState<{ text: string; nodes: ReactNode } | null>(null)
  useEffect(() => {
    if (isGrowing || language === '' || !isWorthIt(text)) return
    let isWanted = true
    colourOf(text, language).then(
      nodes => isWanted && nodes && setColoured({ text, nodes }),
      () => undefined,
    )
    return () => {
      isWanted = false
    }
  }, [text, language, isGrowing])
  return (
    <CodeBlock language={language} code={text}>
      {coloured?.text === text ? coloured.nodes : text}
    </CodeBlock>
  )
}
