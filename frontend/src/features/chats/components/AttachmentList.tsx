import { File as FileIcon, RotateCcw, X } from 'lucide-react'
import { cancelUpload, type FileUpload, startUpload } from '@/features/files'
import { formatBytes } from '@/lib/bytes'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { IconButton } from '@/ui/Button'
import styles from './AttachmentList.module.css'

/** The files that are attached to the message that is being written, each with the progress of its upload. */
export function AttachmentList({ attachments }: { attachments: readonly FileUpload[] }) {
  const { t } = useTexts()
  if (attachments.length === 0) return null
  return (
    <ul className={styles.list} aria-label={t('files.attached')}>
      {attachments.map(attachment => (
        <AttachmentItem key={attachment.id} attachment={attachment} />
      ))}
    </ul>
  )
}

function AttachmentItem({ attachment: { id, file, progress, state, error, preview } }: { attachment: FileUpload }) {
  const { t } = useTexts()
  const percent = Math.round(progress * 100)
  return (
    <li className={cx(styles.item, state === 'failed' && styles.failed)} data-state={state}>
      {preview ? <img src={preview} alt="" className={styles.preview} /> : <FileIcon className="i" aria-hidden />}
      <span className={styles.facts}>
        <span className="cut">{file.name}</span>
        {state === 'uploading' ? (
          <span
            className={styles.track}
            role="progressbar"
            aria-label={t('files.uploading', { name: file.name })}
            aria-valuenow={percent}
            aria-valuemin={0}
            aria-valuemax={100}
          >
            <i style={{ width: `${percent}%` }} />
          </span>
        ) : (
          <small className={state === 'failed' ? 'no' : 'faint'} role={state === 'failed' ? 'alert' : undefined}>
            {state === 'failed' ? getErrorText(error) : formatBytes(file.size)}
          </small>
        )}
      </span>
      {state === 'failed' ? (
        <IconButton label={t('tryAgain')} onClick={() => void startUpload(id)}>
          <RotateCcw className="i s" />
        </IconButton>
      ) : null}
      <IconButton label={t('files.removeNamed', { name: file.name })} onClick={() => cancelUpload(id)}>
        <X className="i s" />
      </IconButton>
    </li>
  )
}
