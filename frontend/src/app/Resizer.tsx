import { type KeyboardEvent, type PointerEvent, useCallback, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { readStored, writeStored } from '@/lib/storage'
import shellStyles from './Shell.module.css'

const STORAGE_KEY = 'atelier.workshop-width'
const MIN_WIDTH = 400
const MAX_WIDTH = 700
const STEP = 24

const clampWidth = (width: number) => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))

/** Returns the chosen width of the workshop (a CSS length; undefined for the default), and a function that sets it in px. */
export function useWorkshopWidth(): [string | undefined, (width: number) => void] {
  const [width, setWidth] = useState<number | null>(() => readStored<number | null>(STORAGE_KEY, null))
  const storeWidth = useCallback((next: number) => {
    setWidth(clampWidth(next))
    writeStored(STORAGE_KEY, clampWidth(next))
  }, [])
  return [width === null ? undefined : `${width}px`, storeWidth]
}

/** The splitter between chat and workshop, in the panel of the workshop: dragged, or moved with the arrow keys. */
export function Resizer({ onWidth }: { onWidth(width: number): void }) {
  const { t } = useTexts()
  const [width, setWidth] = useState(MIN_WIDTH)
  const observeWidth = useCallback((element: HTMLElement | null) => {
    const panel = element?.parentElement
    if (!panel) return
    const observer = new ResizeObserver(() => setWidth(clampWidth(panel.getBoundingClientRect().width)))
    observer.observe(panel)
    return () => observer.disconnect()
  }, [])
  const measureWidth = (element: Element) => element.parentElement?.getBoundingClientRect().width ?? MIN_WIDTH
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
    onWidth(measureWidth(event.currentTarget) + step)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      className={cx(shellStyles.resizer, 'only-wide')}
      role="separator"
      aria-orientation="vertical"
      aria-label={t('resizeWorkshop')}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      aria-valuenow={width}
      ref={observeWidth}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  )
}
