import { FileImage, FileSpreadsheet, FileText, FileX, Presentation } from 'lucide-react'
import { contentUrlOf, type FileKind, type FilePayload, thumbnailUrlOf } from '@/api'
import { formatBytes } from '@/lib/bytes'
import { useTexts } from '@/lib/language'
import { DownloadLink } from './DownloadLink'
import styles from './FileCard.module.css'

/** The icon of each kind of file. */
const icons: Record<FileKind, typeof FileText> = {
  image: FileImage,
  pdf: FileText,
  document: FileText,
  slides: Presentation,
  sheet: FileSpreadsheet,
  text: FileText,
  other: FileText,
}

export const iconOf = (kind: FileKind) => icons[kind]

interface FileCardProps {
  file: FilePayload
  /** The name of the one who has deleted the file; empty if that is not known. */
  deletedBy?: string
}

/** A file with its name, its facts and a way to download it; of a picture, the picture. */
export function FileCard({ file, deletedBy = '' }: FileCardProps) {
  const { t } = useTexts()
  if (file.is_deleted) {
    return (
      <p className={styles.card}>
        <FileX className="i" aria-hidden />
        <span className="faint">
          {deletedBy
            ? t('files.deletedBy', { name: file.name, actor: deletedBy })
            : t('files.deleted', { name: file.name })}
        </span>
      </p>
    )
  }
  const Icon = iconOf(file.kind)
  return (
    <div className={styles.file}>
      {file.has_thumbnail ? (
        <a href={contentUrlOf(file.file_id)} download={file.name} className={styles.picture}>
          <img
            src={thumbnailUrlOf(file.file_id)}
            alt={file.name}
            loading="lazy"
            {...(file.width && file.height ? { width: file.width, height: file.height } : {})}
          />
        </a>
      ) : null}
      <div className={styles.card}>
        <Icon className="i" aria-hidden />
        <span className={styles.facts}>
          <span className="cut" title={file.name} data-file-name>
            {file.name}
          </span>
          <small className="faint">{factsOf(file, t).join(' · ')}</small>
        </span>
        <DownloadLink id={file.file_id} name={file.name} />
      </div>
    </div>
  )
}

/** What is known of a file, in a few words. */
export function factsOf(
  file: Pick<FilePayload, 'size' | 'pages' | 'width' | 'height' | 'state' | 'encoding' | 'no_text_reason'>,
  t: ReturnType<typeof useTexts>['t'],
): string[] {
  const facts = [formatBytes(file.size)]
  if (file.pages) facts.push(t('files.pages', { count: file.pages }))
  if (file.width && file.height) facts.push(`${file.width} × ${file.height}`)
  if (file.encoding && file.encoding !== 'UTF-8') facts.push(file.encoding)
  if (file.state === 'waiting') facts.push(t('files.reading'))
  else if (file.no_text_reason) facts.push(t(`files.reason.${file.no_text_reason}`))
  else if (file.state === 'failed') facts.push(t('files.unreadable'))
  return facts
}
