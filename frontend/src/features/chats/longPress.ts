/** On touch devices, which have no hover, a long press shows the actions of a message. */
import { type PointerEvent, useEffect, useMemo, useRef } from 'react'

/** Shorter than the press by which the browser selects text. */
const PRESS_MS = 400
/** A finger that moved further than this scrolls or selects. */
const SLOP_PX = 10

const ACTING = '[data-acting]'

const toElement = (target: EventTarget | null) => (target instanceof Element ? target : null)

const findToolbar = (message: HTMLElement) => message.querySelector<HTMLElement>('[role=toolbar]')

function hideActions(): void {
  for (const message of document.querySelectorAll<HTMLElement>(ACTING)) {
    delete message.dataset['acting']
    findToolbar(message)?.removeAttribute('popover')
  }
}

/** Shows the toolbar as a sheet. It is a popover, since the items of the log contain their layout, also of what is fixed. */
function showActions(message: HTMLElement): void {
  hideActions()
  message.dataset['acting'] = ''
  const toolbar = findToolbar(message)
  toolbar?.setAttribute('popover', 'manual')
  toolbar?.showPopover()
}

/** Marks the pressed message until another element is pressed. Focus and selection do not change. */
export function useLongPress() {
  const press = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number } | null>(null)

  useEffect(() => {
    const onDown = (event: Event) => toElement(event.target)?.closest(`${ACTING} [role=toolbar]`) || hideActions()
    const onClick = (event: Event) => toElement(event.target)?.closest(`${ACTING} [role=toolbar]`) && hideActions()
    document.addEventListener('pointerdown', onDown)
    document.addEventListener('click', onClick)
    return () => {
      document.removeEventListener('pointerdown', onDown)
      document.removeEventListener('click', onClick)
      hideActions()
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
        const target = toElement(event.target)
        const message = target?.closest<HTMLElement>('article[data-message]')
        if (event.pointerType !== 'touch' || !message || target?.closest('a, button, input')) return
        press.current = { timer: setTimeout(() => showActions(message), PRESS_MS), x: event.clientX, y: event.clientY }
      },
      onPointerMove: ({ clientX, clientY }: PointerEvent<HTMLElement>) => {
        if (press.current && Math.hypot(clientX - press.current.x, clientY - press.current.y) > SLOP_PX) end()
      },
      onPointerUp: end,
      onPointerCancel: end,
    }
  }, [])
}
