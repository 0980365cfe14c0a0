/** Rejects dropped and pasted files: otherwise the browser would open them in place of the page, or ignore them silently. */
import { useEffect } from 'react'
import { t } from '@/lib/language'
import { showToast } from '@/ui/toast'
import { hasFiles, isFileOnly } from './fileDrop'

export function useFileRefusal(): void {
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault()
    }
    const onDrop = (event: DragEvent) => {
      // An element that accepts files has prevented the default.
      if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return
      event.preventDefault()
      showToast(t('noFiles'))
    }
    const onPaste = (event: ClipboardEvent) => {
      if (event.defaultPrevented || !isFileOnly(event.clipboardData)) return
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
