import type { ComponentProps, MouseEvent } from 'react'

interface PathLinkProps extends ComponentProps<'a'> {
  /** A path of this app. */
  path: string
  onGo(path: string): void
}

const isPlain = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey

/** A link inside the app: a plain click goes there without loading the page; a new tab or window is the browser's business. */
export function PathLink({ path, onGo, ...rest }: PathLinkProps) {
  return (
    <a
      {...rest}
      href={path}
      onClick={event => {
        if (!isPlain(event)) return
        event.preventDefault()
        onGo(path)
      }}
    />
  )
}
