/** Files that are dropped or pasted anywhere: the browser would leave the page for them, or swallow them without a word. */
import { useEffect } from 'react'
import { t } from '@/lib/language'
import { showToast } from '@/ui/toast'

export const hasFiles = (data: Pick<DataTransfer, 'types'> | null) => data?.types.includes('Files') ?? false
/** A picture copied from a page comes with its text; then the text is meant. */
export const isFileOnly = (data: Pick<DataTransfer, 'types'> | null) =>
  hasFiles(data) && !data?.types.includes('text/plain')

export function useFileRefusal(): void {
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault()
    }
    const onDrop = (event: DragEvent) => {
      // Somewhere on the page files may be taken.
      if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return
      event.preventDefault()
      showToast(t('noFiles'))
    }
    const onPaste = (event: ClipboardEvent) => {
      if (!isFileOnly(event.clipboardData)) return
      event.preventDefault()
      showToast(t('noFiles'))
    }
    window.addEventListener('dragover', onDrag)
    window.addEventListener('drop', onDrop)
    window.addEventListener('paste', onPaste)
    return () => {
      window.removeEventListener('dragover', onDrag)
      window.removeEventListener('drop', onDrop)
      window.removeEventListener('paste', onPaste)
    }
  }, [])
}
