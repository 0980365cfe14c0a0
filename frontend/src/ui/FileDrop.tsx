import { FileUp } from 'lucide-react'
import { type DragEvent, useId, useState } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import buttonStyles from './Button.module.css'
import styles from './FileDrop.module.css'

interface FileDropProps {
  /** The types of files that the browser's dialog shows, as in `accept` of an input. */
  accept: string
  onFile(file: File): void
}

/** The input for one YAML or JSON file: dropped, or chosen. */
export function FileDrop({ accept, onFile }: FileDropProps) {
  const { t } = useTexts()
  const id = useId()
  const [isOver, setOver] = useState(false)
  const takeFirst = (files: FileList | null) => files?.[0] && onFile(files[0])
  const handleDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    takeFirst(event.dataTransfer.files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shorter way to the button in it
    <div
      className={cx(styles.drop, isOver && styles.over)}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={handleDrop}
    >
      <FileUp className="i" aria-hidden />
      <span className="grow muted">{t('dropFile')}</span>
      <label className={buttonStyles.btn} htmlFor={id}>
        {t('chooseFile')}
      </label>
      <input
        id={id}
        type="file"
        className="sr"
        accept={accept}
        onChange={event => {
          takeFirst(event.target.files)
          // Choosing the same file again is a change only if the field is empty.
          event.target.value = ''
        }}
      />
    </div>
  )
}
