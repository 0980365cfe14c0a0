import { useState } from 'react'
import { chord, isMac, LETTERS } from '@/lib/keys'
import { type TextKey, useTexts } from '@/lib/language'
import { keep, kept } from '@/lib/stored'
import { Dialog } from '@/ui/Dialog'
import { Switch } from '@/ui/Switch'

const shift = isMac ? '⌘⇧' : 'Ctrl ⇧ '

const rows: readonly [string, TextKey][] = [
  [chord('K'), 'keys.palette'],
  [chord('.'), 'keys.workshop'],
  ['F6', 'keys.pane'],
  ['Alt ↑ ↓', 'keys.chat'],
  ['Alt ⇧ ↑ ↓', 'keys.unread'],
  ['↑ ↓  J K', 'keys.message'],
  ['R', 'keys.reply'],
  ['G C  G S', 'keys.goto'],
  ['G H', 'keys.versions'],
  ['J K  X  ↵', 'keys.suggestions'],
  ['↵  ⇧ ↵', 'keys.send'],
  [`${shift}↵`, 'keys.nobody'],
  [`${shift}.`, 'keys.stop'],
  [chord('↵'), 'keys.apply'],
  [chord('S'), 'keys.save'],
  ['Esc', 'keys.escape'],
  ['?', 'keys.list'],
]

export function KeysDialog({ onClose }: { onClose(): void }) {
  const { t } = useTexts()
  const [letters, setLetters] = useState(() => kept(LETTERS, true))
  const change = (on: boolean) => {
    setLetters(on)
    keep(LETTERS, on)
  }
  return (
    <Dialog open onOpenChange={onClose} title={t('keys')}>
      <dl className="keylist">
        {rows.map(([keys, does]) => (
          <div key={does}>
            <dt>
              <kbd className="key">{keys}</kbd>
            </dt>
            <dd>{t(does)}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <span className="grow">{t('keys.letters')}</span>
        <Switch on={letters} onChange={change} label={t('keys.letters')} />
      </div>
    </Dialog>
  )
}
