/** Makes characters visible that would hide or reorder other text: control and format characters. */

/** Line breaks, tabs and the joiner of emoji are kept. */
const HIDDEN = /(?![\n\t\u200d])[\p{Cc}\p{Cf}\u115f\u1160\u2028\u2029\u3164\uffa0]/gu

/** Returns the text with each hidden character as its code, such as ⟨U+202E⟩. */
export const showHiddenCharacters = (text: string): string =>
  text.replace(HIDDEN, found => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
