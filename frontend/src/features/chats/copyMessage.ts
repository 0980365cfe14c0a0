import { loadLazyTexts, t } from '@/lib/language'
import { copyText } from '@/ui/copy'
import type { FindName } from '@/ui/prose/mentions'
import { formatPlainText } from '@/ui/prose/plainText'
import { showToast } from '@/ui/toast'
import type { CopyFormat } from './copying'

/** Copies a text in Markdown as it is, or as the text that people read on the screen, and says so. */
export async function copyMessage(markdown: string, format: CopyFormat, findName: FindName): Promise<void> {
  const isCopied = await copyText(format === 'markdown' ? markdown : formatPlainText(markdown, findName))
  if (!isCopied) await loadLazyTexts()
  showToast(t(isCopied ? 'copied' : 'copyFailed'))
}
