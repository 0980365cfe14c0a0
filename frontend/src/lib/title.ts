import { useEffect } from 'react'

/** Sets the title of the page in the browser's tab and history. */
export function usePageTitle(title: string | undefined, unread = 0): void {
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${title ? `${title} · ` : ''}Atelier`
  }, [title, unread])
}
