/** The text of a tooltip, built on internal parts of Radix. It is loaded when the first one is shown. */

import { Portal } from 'radix-ui'
import { DismissableLayer, Popper } from 'radix-ui/internal'
import { useEffect, useMemo } from 'react'
import styles from './TooltipContent.module.css'

interface TooltipContentProps {
  id: string
  text: string
  anchor: HTMLElement
  onHide(): void
}

/** Pixels between the control and its text, and between the text and the edge of the screen. */
const GAP = 6
const EDGE = 8

/** The tooltip above its control, or below it if there is no room. Escape hides it and closes nothing else. */
export function TooltipContent({ id, text, anchor, onHide }: TooltipContentProps) {
  const anchorRef = useMemo(() => ({ current: anchor }), [anchor])
  useEffect(() => {
    const hide = (event: Event) => {
      if ((event.target as Node).contains(anchor)) onHide()
    }
    window.addEventListener('scroll', hide, { capture: true })
    return () => window.removeEventListener('scroll', hide, { capture: true })
  }, [anchor, onHide])
  return (
    <Popper.Root>
      <Popper.Anchor virtualRef={anchorRef} />
      <Portal.Root>
        <DismissableLayer.Root
          asChild
          onDismiss={onHide}
          onFocusOutside={event => event.preventDefault()}
          onPointerDownOutside={event => anchor.contains(event.target as Node) && event.preventDefault()}
        >
          <Popper.Content
            id={id}
            className={styles.tip}
            role="tooltip"
            side="top"
            sideOffset={GAP}
            collisionPadding={EDGE}
          >
            {text}
          </Popper.Content>
        </DismissableLayer.Root>
      </Portal.Root>
    </Popper.Root>
  )
}
