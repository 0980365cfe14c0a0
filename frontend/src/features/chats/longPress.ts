/** On touch there is no pointer that hovers: a long press shows what can be done with a message. */
import { type PointerEvent, useEffect, useMemo, useRef } from 'react'

/** Shorter than the press that selects text, which the browser does beside it. */
const PRESS_MS = 400
/** A finger that moved as far (px) scrolls or selects. */
const SLOP_PX = 10

const ACTING = '[data-acting]'

const elementOf = (target: EventTarget | null) => (target instanceof Element ? target : null)

function hide(): void {
  for (const message of document.querySelectorAll<HTMLElement>(ACTING)) delete message.dataset['acting']
}

/** Marks the message that is pressed, until something else is. Neither the focus nor what is selected changes. */
export function useLongPress() {
  const press = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number } | null>(null)

  useEffect(() => {
    const onDown = (event: Event) => elementOf(event.target)?.closest(`${ACTING} [role=toolbar]`) || hide()
    const onClick = (event: Event) => elementOf(event.target)?.closest(`${ACTING} [role=toolbar]`) && hide()
    document.addEventListener('pointerdown', onDown)
    document.addEventListener('click', onClick)
    return () => {
      document.removeEventListener('pointerdown', onDown)
      document.removeEventListener('click', onClick)
      hide()
    }
  }, [])

  return useMemo(() => {
    const end = () => {
      clearTimeout(press.current?.timer)
      press.current = null
    }
    return {
      onPointerDown: (event: PointerEvent<HTMLElement>) => {
        end()
        const target = elementOf(event.target)
        const message = target?.closest<HTMLElement>('article[data-message]')
        if (event.pointerType !== 'touch' || !message || target?.closest('a, button, input')) return
        const show = () => {
          hide()
          message.dataset['acting'] = ''
        }
        press.current = { timer: setTimeout(show, PRESS_MS), x: event.clientX, y: event.clientY }
      },
      onPointerMove: ({ clientX, clientY }: PointerEvent<HTMLElement>) => {
        if (press.current && Math.hypot(clientX - press.current.x, clientY - press.current.y) > SLOP_PX) end()
      },
      onPointerUp: end,
      onPointerCancel: end,
    }
  }, [])
}
