import { Download } from 'lucide-react'
import { contentUrlOf } from '@/api'
import { useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'

/** A link with an icon that downloads a file. */
export function DownloadLink({ id, name }: { id: string; name: string }) {
  const { t } = useTexts()
  const label = t('files.download', { name })
  return (
    <a href={contentUrlOf(id)} download={name} className={buttonStyles.ib} aria-label={label} title={label}>
      <Download className="i" aria-hidden />
    </a>
  )
}
