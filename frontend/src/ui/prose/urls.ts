/** The URLs that may be links, and their hosts. Pure functions. */

const allowedProtocols = new Set(['http:', 'https:', 'mailto:'])
/** Longer URLs are not linked. */
const MAX_LENGTH = 2_000

function parseUrl(href: string): URL | null {
  if (href.length > MAX_LENGTH) return null
  try {
    const url = new URL(href)
    return allowedProtocols.has(url.protocol) ? url : null
  } catch {
    return null
  }
}

/** Returns the host to show beside a link, of a `mailto:` link the address; null for a URL that may not be a link. */
export function getHost(href: string): string | null {
  const url = parseUrl(href)
  if (!url) return null
  return (url.protocol === 'mailto:' ? decode(url.pathname) : url.host) || null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns whether the text of a link is this host or a URL of it, and does not merely contain the host. */
export function isTextOfHost(text: string, host: string): boolean {
  const start = text.trim().replace(/^https?:\/\//i, '')
  return (start.split(/[/?#]/)[0] ?? '').toLowerCase() === host.toLowerCase()
}
