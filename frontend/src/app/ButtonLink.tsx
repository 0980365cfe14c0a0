import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { cx } from '@/lib/cx'
import buttonStyles from '@/ui/Button.module.css'

interface ButtonAnchorProps extends ComponentProps<'a'> {
  tone?: 'plain' | 'ink'
}

function ButtonAnchor({ tone = 'plain', ...rest }: ButtonAnchorProps) {
  return (
    <a
      {...rest}
      data-slot="button"
      data-size="lg"
      className={cx(buttonStyles.btn, tone === 'ink' && buttonStyles.ink, buttonStyles.lg)}
    />
  )
}

/** A link that looks like a large button. */
export const ButtonLink = createLink(ButtonAnchor)
