import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  Suspense,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { lazy } from './lazy'

const TooltipContent = lazy(() => import('./TooltipContent').then(module => ({ default: module.TooltipContent })))

interface TooltipProps {
  /** Null if there is no text now. */
  text: string | null
  children: ReactElement<ComponentProps<'button'>>
}

/** Delay before the text is shown on hover, in ms. */
const DELAY_MS = 300

/**
 * A tooltip of a control, shown on hover, keyboard focus and tap. The code that positions it is loaded when the first
 * one is shown, because `Button`, which is on every page, contains this component.
 */
export function Tooltip({ text, children }: TooltipProps) {
  const id = useId()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const hide = useCallback(() => {
    clearTimeout(timer.current)
    setAnchor(null)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  const show = (control: HTMLElement) => {
    clearTimeout(timer.current)
    if (text !== null) setAnchor(control)
  }
  const { props } = children
  const isVisible = anchor !== null && text !== null
  const control = cloneElement(children, {
    'aria-describedby': isVisible ? id : props['aria-describedby'],
    onPointerEnter: event => {
      props.onPointerEnter?.(event)
      const control = event.currentTarget
      if (event.pointerType !== 'touch') timer.current = setTimeout(() => show(control), DELAY_MS)
    },
    onPointerLeave: event => {
      props.onPointerLeave?.(event)
      if (event.pointerType !== 'touch') hide()
    },
    onFocus: event => {
      props.onFocus?.(event)
      if (event.currentTarget.matches(':focus-visible')) show(event.currentTarget)
    },
    onBlur: event => {
      props.onBlur?.(event)
      hide()
    },
    // There is no hover on touch devices, so a tap on a blocked button shows the reason.
    onClick: event => {
      props.onClick?.(event)
      show(event.currentTarget)
    },
  })
  return (
    <>
      {control}
      {isVisible ? (
        <Suspense fallback={null}>
          <TooltipContent id={id} text={text} anchor={anchor} onHide={hide} />
        </Suspense>
      ) : null}
    </>
  )
}
