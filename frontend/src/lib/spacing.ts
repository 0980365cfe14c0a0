const han = '\\p{Script=Han}'
const latin = '[\\p{Script=Latin}0-9@]'
const hanThenLatin = new RegExp(`(${han})(?=${latin})`, 'gu')
const latinThenHan = new RegExp(`(${latin})(?=${han})`, 'gu')

/** Adds a space between Chinese characters and Latin letters or digits, in texts in Chinese. */
export function addCjkSpacing(text: string, language: string): string {
  if (!language.startsWith('zh')) return text
  return text.replace(hanThenLatin, '$1 ').replace(latinThenHan, '$1 ')
}
