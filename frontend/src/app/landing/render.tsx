/** Renders the landing page when the web app is built (`vite.config.ts`). Nothing of this is sent to browsers but the result. */
import { renderToStaticMarkup } from 'react-dom/server.edge'
import '@/styles/index.css'
import icon from '@/assets/icon.svg'
import { languages, loadLanguage, loadLazyTexts } from '@/lib/language'
import { LandingPage } from './LandingPage'

/** Returns the page with its texts in all languages, of which one is shown. `base`: the path of static files. */
export async function renderLandingPage(base: string, stylesheets: readonly string[]): Promise<string> {
  await loadLazyTexts()
  const pages: string[] = []
  for (const language of languages) {
    await loadLanguage(language)
    pages.push(renderToStaticMarkup(<LandingPage />))
  }
  const head = renderToStaticMarkup(
    <>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="same-origin" />
      <script src={`${base}before-paint.js`} />
      {stylesheets.map(name => (
        <link key={name} rel="stylesheet" href={base + name} />
      ))}
      <link rel="icon" type="image/svg+xml" href={icon} />
      <script src={`${base}landing.js`} defer />
      <title>Atelier</title>
    </>,
  )
  return `<!doctype html>\n<html lang="en">\n<head>${head}</head>\n<body>\n${pages.join('\n')}\n</body>\n</html>\n`
}
