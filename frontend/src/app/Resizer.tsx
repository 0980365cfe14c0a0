import { type KeyboardEvent, type PointerEvent, useCallback, useState } from 'react'
import { useTexts } from '@/lib/language'
import { keep, kept } from '@/lib/stored'

const STORED = 'atelier.shop'
const LOWEST = 400
const HIGHEST = 700
const STEP = 24

const inRange = (width: number) => Math.round(Math.min(HIGHEST, Math.max(LOWEST, width)))

/** The width that this person gave the workshop, as a CSS length; undefined: the screen decides. */
export function useShopWidth(): [string | undefined, (width: number) => void] {
  const [width, setWidth] = useState<number | null>(() => kept<number | null>(STORED, null))
  const set = useCallback((next: number) => {
    setWidth(inRange(next))
    keep(STORED, inRange(next))
  }, [])
  return [width === null ? undefined : `${width}px`, set]
}

/** The edge between chat and workshop: dragged, or moved with the arrow keys. */
export function Resizer({ onWidth }: { onWidth(width: number): void }) {
  const { t } = useTexts()
  const widthNow = (element: Element) => element.nextElementSibling?.getBoundingClientRect().width ?? LOWEST
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) onWidth(window.innerWidth - event.clientX)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key]
    if (!step) return
    event.preventDefault()
    onWidth(widthNow(event.currentTarget) + step)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      className="resizer only-wide"
      role="separator"
      aria-orientation="vertical"
      aria-label={t('resizeWorkshop')}
      aria-valuemin={LOWEST}
      aria-valuemax={HIGHEST}
      aria-valuenow={LOWEST}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  )
}
