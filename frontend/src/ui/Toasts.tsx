import { useEffect } from 'react'
import { observable, usePart } from '@/lib/observable'

interface Toast {
  text: string
  action?: { label: string; run(): void }
}

const toast = observable<Toast | null>(null)
const whole = (value: Toast | null) => value
const SHOWN_MS = 10_000

/** Says something at the bottom left, one thing at a time; with an undo where there is one. */
export const say = (text: string, action?: Toast['action']) => toast.set({ text, ...(action ? { action } : {}) })

export function Toasts() {
  const shown = usePart(toast, whole)
  useEffect(() => {
    if (!shown) return
    const timer = setTimeout(() => toast.set(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  const act = () => {
    shown?.action?.run()
    toast.set(null)
  }
  return (
    <div className="toasts" role="status">
      {shown ? (
        <div className="toast">
          <span>{shown.text}</span>
          {shown.action ? (
            <button type="button" onClick={act}>
              {shown.action.label}
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}
