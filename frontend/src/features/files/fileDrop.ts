/** Files that are dropped anywhere on the page, or pasted. */
import { useEffect, useState } from 'react'
import { useLatest } from '@/lib/latest'

export const hasFiles = (data: Pick<DataTransfer, 'types'> | null) => data?.types.includes('Files') ?? false
/** Returns whether there are files without text. Text copied from a page may include an image; then the text is pasted. */
export const isFileOnly = (data: Pick<DataTransfer, 'types'> | null) =>
  hasFiles(data) && !data?.types.includes('text/plain')

/** Calls `onFiles` with files that are dropped or pasted. Returns whether files are being dragged over the page. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [isDragging, setDragging] = useState(false)
  const latest = useLatest(onFiles)
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      setDragging(true)
    }
    const onLeave = (event: DragEvent) => {
      // Leaving an element for another one inside the page has a related target.
      if (!event.relatedTarget) setDragging(false)
    }
    const onDrop = (event: DragEvent) => {
      setDragging(false)
      if (!hasFiles(event.dataTransfer)) return
      event.preventDefault()
      latest.current([...(event.dataTransfer?.files ?? [])])
    }
    const onPaste = (event: ClipboardEvent) => {
      if (!isFileOnly(event.clipboardData)) return
      event.preventDefault()
      latest.current([...(event.clipboardData?.files ?? [])])
    }
    // In the capturing phase, before the listeners of `useFileRefusal`: they leave alone a file that was taken here.
    const options = { capture: true }
    window.addEventListener('dragover', onDrag, options)
    window.addEventListener('dragleave', onLeave, options)
    window.addEventListener('drop', onDrop, options)
    window.addEventListener('paste', onPaste, options)
    return () => {
      window.removeEventListener('dragover', onDrag, options)
      window.removeEventListener('dragleave', onLeave, options)
      window.removeEventListener('drop', onDrop, options)
      window.removeEventListener('paste', onPaste, options)
    }
  }, [])
  return isDragging
}
