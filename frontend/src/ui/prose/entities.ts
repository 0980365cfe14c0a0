/**
 * What markdown-it asks the package `entities` for. Every browser knows the names of characters by itself: the package's
 * table would be 15 kB of the first load (`vite.config.ts` puts this in its place).
 */

/** UTF-16 units of the longest text that has a name. */
const MAX_LENGTH = 2

const element = document.createElement('i')

/** Returns the character that `&name;` stands for, or the text itself when there is no such name. */
export function decodeHTMLStrict(reference: string): string {
  element.innerHTML = reference
  const text = element.textContent ?? ''
  // Of `&notit;` a browser reads the old name `&not`, and leaves the rest.
  return text.length <= MAX_LENGTH ? text : reference
}
