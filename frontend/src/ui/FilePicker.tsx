import type { Ref } from 'react'

interface FilePickerProps {
  label: string
  onFiles(files: readonly File[]): void
  /** A click on it opens the browser's dialog. */
  ref: Ref<HTMLInputElement>
}

/** A hidden field by which a button lets people choose files. */
export function FilePicker({ label, onFiles, ref }: FilePickerProps) {
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={label}
      onChange={event => {
        onFiles([...(event.target.files ?? [])])
        // Choosing the same file again is a change only if the field is empty.
        event.target.value = ''
      }}
    />
  )
}
