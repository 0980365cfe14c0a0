import { useEffect } from 'react'

/** Sets the title of the page in the browser's tab and history. `waits`: the text that something waits for the reader. */
export function usePageTitle(title: string | undefined, unread = 0, waits = ''): void {
  useEffect(() => {
    const count = unread > 0 ? `(${unread}) ` : ''
    document.title = count + [waits, title, 'Atelier'].filter(Boolean).join(' · ')
  }, [title, unread, waits])
}
