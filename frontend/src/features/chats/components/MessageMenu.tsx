import type { ReactNode } from 'react'
import { formatShortcut } from '@/lib/actions'
import { useTexts } from '@/lib/language'
import { Menu, MenuItem } from '@/ui/Menu'
import type { MessageAction } from './MessageParts'

interface MessageMenuProps {
  trigger: ReactNode
  actions: readonly MessageAction[]
  /** Focuses the message, because its toolbar is hidden once the menu is closed. */
  onClosed(): void
}

/** The menu of a message. It is rendered on first use, so it starts open. */
export function MessageMenu({ trigger, actions, onClosed }: MessageMenuProps) {
  const { t } = useTexts()
  return (
    <Menu label={t('messageActions')} trigger={trigger} align="end" isInitiallyOpen onClosed={onClosed}>
      {actions.map(({ label, icon: Icon, run, shortcut, isBad }) => (
        <MenuItem key={label} onSelect={run} bad={isBad ?? false}>
          <Icon className="i s" aria-hidden />
          <span className="grow">{label}</span>
          {shortcut ? <span className="end">{formatShortcut(shortcut)}</span> : null}
        </MenuItem>
      ))}
    </Menu>
  )
}
