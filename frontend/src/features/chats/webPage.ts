/** What a call of `web_fetch` brought: the page, taken out of the lines that fence it off for the model. Pure. */

export interface WebPage {
  title: string
  url: string
  site: string
  published: string
  /** Markdown by a stranger. */
  text: string
  /** Which part of it, when it is not the whole: said by the tool, in its own words. */
  note: string
}

const FENCED =
  /^--- (page \w+) ---\n\[(.*)\]\((https?:\/\/\S+)\)\n(?:Site: (.*)\n)?(?:Published: (.*)\n)?([\s\S]*)\n--- end of \1 ---(?:\n(.*))?$/m

export function webPageOf(result: string): WebPage | null {
  const found = FENCED.exec(result)
  if (!found) return null
  const [, , title = '', url = '', site = '', published = '', text = '', note = ''] = found
  return { title, url, site, published, text, note }
}
