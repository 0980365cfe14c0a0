import { useState } from 'react'
import { actionIds, actions, type KeyHelp } from '@/lib/actions'
import { areSingleKeysOn, formatKeys, SINGLE_KEYS_KEY } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { writeStored } from '@/lib/storage'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { Switch } from '@/ui/Switch'
import styles from './KeysDialog.module.css'

/** Returns the keys of each row of the dialog, by the text of the row, in the order of `actions`. */
function groupKeysByRow(): Map<KeyHelp, string[]> {
  const rows = new Map<KeyHelp, string[]>()
  for (const id of actionIds) {
    const { help, keys } = actions[id]
    if (help) rows.set(help, [...(rows.get(help) ?? []), ...keys])
  }
  return rows
}

export function KeysDialog({ onClose }: { onClose(): void }) {
  const { t } = useTexts()
  const [isLettersOn, setLettersOn] = useState(areSingleKeysOn)
  const handleLettersChange = (on: boolean) => {
    setLettersOn(on)
    writeStored(SINGLE_KEYS_KEY, on)
  }
  return (
    <Dialog open onOpenChange={onClose} title={t('keys')}>
      <dl className={styles.keylist}>
        {[...groupKeysByRow()].map(([help, keys]) => (
          <div key={help}>
            <dt>
              {keys.map(key => (
                <kbd key={key} className={blocks.key}>
                  {formatKeys([key])}
                </kbd>
              ))}
            </dt>
            <dd>{t(`keys.${help}`)}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <span className="grow">{t('keys.letters')}</span>
        <Switch on={isLettersOn} onChange={handleLettersChange} label={t('keys.letters')} />
      </div>
    </Dialog>
  )
}
