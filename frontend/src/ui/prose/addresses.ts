/** What may be a link, and what a link says about where it leads. Pure. */

const allowed = new Set(['http:', 'https:', 'mailto:'])
/** Longer than any address that a person would follow. */
const MAX_LENGTH = 2_000

function addressOf(href: string): URL | null {
  if (href.length > MAX_LENGTH) return null
  try {
    const url = new URL(href)
    return allowed.has(url.protocol) ? url : null
  } catch {
    return null
  }
}

/** The host of an address, as it is to be shown beside a link; null for what may not be a link. */
export function getHost(href: string): string | null {
  const url = addressOf(href)
  if (!url) return null
  return (url.protocol === 'mailto:' ? decoded(url.pathname) : url.host) || null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether the words of a link are its own address. That the host occurs somewhere in them does not make them so. */
export function isTextOfHost(text: string, host: string): boolean {
  const start = text.trim().replace(/^https?:\/\//i, '')
  return (start.split(/[/?#]/)[0] ?? '').toLowerCase() === host.toLowerCase()
}
