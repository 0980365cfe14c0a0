const han = '\\p{Script=Han}'
const latin = '[A-Za-z0-9@]'
const hanThenLatin = new RegExp(`(${han})(?=${latin})`, 'gu')
const latinThenHan = new RegExp(`(${latin})(?=${han})`, 'gu')

/** In Chinese, one space stands between Chinese and Latin or digits; names and numbers bring none of their own. */
export function addCjkSpacing(text: string, language: string): string {
  if (!language.startsWith('zh')) return text
  return text.replace(hanThenLatin, '$1 ').replace(latinThenHan, '$1 ')
}
