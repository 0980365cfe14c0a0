import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import { copyText } from './copy'
import fieldStyles from './Field.module.css'
import { showToast } from './toast'

/** A read-only text with a button to copy it. */
export function CopyField({ label, text }: { label: string; text: string }) {
  const { t } = useTexts()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    const isCopied = await copyText(text)
    setCopied(isCopied)
    if (!isCopied) showToast(t('copyFailed'))
  }
  const Icon = copied ? Check : Copy
  return (
    <div className="row">
      <input
        className={cx(fieldStyles.input, 'mono')}
        readOnly
        aria-label={label}
        value={text}
        onFocus={event => event.target.select()}
      />
      <Button onClick={() => void copy()}>
        <Icon className="i s" aria-hidden />
        {copied ? t('copied') : t('copy')}
      </Button>
    </div>
  )
}
