import { type KeyboardEvent, type PointerEvent, useCallback, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import shellStyles from './Shell.module.css'

const STORED = 'atelier.shop'
const LOWEST = 400
const HIGHEST = 700
const STEP = 24

const inRange = (width: number) => Math.round(Math.min(HIGHEST, Math.max(LOWEST, width)))

/** The width that this person gave the workshop, as a CSS length; undefined: the screen decides. */
export function useShopWidth(): [string | undefined, (width: number) => void] {
  const [width, setWidth] = useState<number | null>(() => readStored<number | null>(STORED, null))
  const set = useCallback((next: number) => {
    setWidth(inRange(next))
    writeStored(STORED, inRange(next))
  }, [])
  return [width === null ? undefined : `${width}px`, set]
}

/** The edge between chat and workshop: dragged, or moved with the arrow keys. */
export function Resizer({ onWidth }: { onWidth(width: number): void }) {
  const { t } = useTexts()
  const [now, setNow] = useState(LOWEST)
  const measured = useCallback((element: HTMLElement | null) => {
    const panel = element?.nextElementSibling
    if (!panel) return
    const observer = new ResizeObserver(() => setNow(inRange(panel.getBoundingClientRect().width)))
    observer.observe(panel)
    return () => observer.disconnect()
  }, [])
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
      className={cx(shellStyles.resizer, 'only-wide')}
      role="separator"
      aria-orientation="vertical"
      aria-label={t('resizeWorkshop')}
      aria-valuemin={LOWEST}
      aria-valuemax={HIGHEST}
      aria-valuenow={now}
      ref={measured}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  )
}
