import { Download } from 'lucide-react'
import { exportUrl, type FileFormat } from '@/api'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Menu, MenuItem } from '@/ui/Menu'

/** Downloads a file without leaving the page. */
function download(url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

/** The menu that downloads a version as a file: YAML to read and edit, JSON for programs. */
export function ExportMenu({ agentId, version }: { agentId: string; version: number }) {
  const { t } = useTexts()
  const item = (format: FileFormat, text: string) => (
    <MenuItem onSelect={() => download(exportUrl(agentId, version, format))}>{text}</MenuItem>
  )
  return (
    <Menu
      align="end"
      label={t('export')}
      trigger={
        <Button tone="flat">
          <Download className="i s" aria-hidden />
          {t('exportVersion', { version: `v${version}` })}
        </Button>
      }
    >
      {item('yaml', t('exportYaml'))}
      {item('json', t('exportJson'))}
    </Menu>
  )
}
