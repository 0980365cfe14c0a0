import type { ComponentProps, MouseEvent } from 'react'

interface PathLinkProps extends ComponentProps<'a'> {
  /** A path of this app. */
  path: string
  onGo(path: string): void
}

const isPlainClick = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey

/** A link inside the app. A plain click navigates without reloading the page. The browser handles others, such as for a new tab. */
export function PathLink({ path, onGo, ...rest }: PathLinkProps) {
  return (
    <a
      {...rest}
      href={path}
      onClick={event => {
        if (!isPlainClick(event)) return
        event.preventDefault()
        onGo(path)
      }}
    />
  )
}
