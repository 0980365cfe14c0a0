/**
 * Replaces the package `get-east-asian-width`, which markdown-it-cjk-friendly imports (see `vite.config.ts`): it only asks whether a
 * character is Chinese, Japanese or Korean, and the tables of the package would add 2 kB to the first load.
 */

const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u

/** Returns the width of a character as Unicode names it, as far as it tells such characters from others. */
export function eastAsianWidthType(codePoint: number): 'wide' | 'fullwidth' | 'halfwidth' | 'ambiguous' | 'neutral' {
  if (codePoint >= 0xff61 && codePoint <= 0xffdc) return 'halfwidth'
  if ((codePoint >= 0xff01 && codePoint <= 0xff60) || (codePoint >= 0xffe0 && codePoint <= 0xffe6)) return 'fullwidth'
  if (wide.test(String.fromCodePoint(codePoint))) return 'wide'
  // Variation selectors and quotation marks: the plug-in looks at the character before them.
  const isAmbiguous = codePoint >= 0xe0100 || (codePoint >= 0xfe00 && codePoint <= 0xfe0f)
  return isAmbiguous || (codePoint >= 0x2018 && codePoint <= 0x201d) ? 'ambiguous' : 'neutral'
}
