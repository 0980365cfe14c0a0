import { RotateCw, X } from 'lucide-react'
import type { MessageRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import composerStyles from './Composer.module.css'
import { useFormatLine } from './MessageParts'

interface OfferedQuestionProps {
  question: MessageRow
  onAsk(): void
  onCancel(): void
}

/** The offer to send the last question again to a draft that was just applied. Enter in the empty composer sends it. */
export function OfferedQuestion({ question, onAsk, onCancel }: OfferedQuestionProps) {
  const { t } = useTexts()
  const formatLine = useFormatLine()
  return (
    <div className={composerStyles.replying}>
      <button type="button" className={cx(buttonStyles.btn, composerStyles.again, buttonStyles.xs)} onClick={onAsk}>
        <RotateCw className="i s" aria-hidden />
        {t('askQuestionAgain')} <kbd className={blocks.key}>↵</kbd>
      </button>
      <span className="cut grow">{formatLine(question)}</span>
      <IconButton small label={t('cancel')} onClick={onCancel}>
        <X className="i s" />
      </IconButton>
    </div>
  )
}
