import { Suspense } from 'react'
import { lazy } from '../lazy'
import { Code } from './Code'

interface FormulaProps {
  /** The formula in TeX, with its signs. */
  source: string
}

const isBlock = (source: string) => source.includes('\n')

/** A formula exactly as it was written. */
export const FormulaSource = ({ source }: FormulaProps) =>
  isBlock(source) ? <Code text={source} language="" isGrowing={false} /> : <code>{source}</code>

const DrawnFormula = lazy(() => import('./DrawnFormula'), { fallback: FormulaSource, hasLazyTexts: false })

/** A formula. It is shown as it was written while its text is streaming, and until the code that draws formulas is loaded. */
export function Formula({ source, isGrowing }: FormulaProps & { isGrowing: boolean }) {
  const asWritten = <FormulaSource source={source} />
  if (isGrowing) return asWritten
  return (
    <Suspense fallback={asWritten}>
      <DrawnFormula source={source} />
    </Suspense>
  )
}
