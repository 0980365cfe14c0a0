/**
 * Replaces the package `entities`, which markdown-it imports (see `vite.config.ts`). Browsers can decode entities themselves,
 * and the table of the package would add 15 kB to the first load.
 */

/** The length of the longest text that a named entity stands for, in UTF-16 units. */
const MAX_LENGTH = 2

const element = document.createElement('i')

/** Decodes an entity `&name;`; returns the reference itself if there is no such entity. */
export function decodeHTMLStrict(reference: string): string {
  element.innerHTML = reference
  const text = element.textContent ?? ''
  // From `&notit;`, a browser decodes the legacy entity `&not` and leaves the rest.
  return text.length <= MAX_LENGTH ? text : reference
}
