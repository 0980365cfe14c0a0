import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import buttonStyles from '@/ui/Button.module.css'
import accountStyles from './Account.module.css'
import '@/styles/index.css'
import { isMissingFile, reloadOnce } from '@/lib/chunkReload'
import { getChosenLanguage, loadLanguage } from '@/lib/language'
import { applyChosenTheme } from '@/lib/theme'
import { reportError } from './errorReports'
import { Providers } from './providers'

async function startApp(root: HTMLElement): Promise<void> {
  applyChosenTheme()
  await loadLanguage(getChosenLanguage())
  createRoot(root, { onCaughtError: error => reportError('rendering', error) }).render(
    <StrictMode>
      <Providers />
    </StrictMode>,
  )
}

/** Reloads the page if a file is missing, or else shows a notice in all languages: the texts may not be loaded. */
async function showStartError(root: HTMLElement, error: unknown): Promise<void> {
  if (isMissingFile(error) && (await reloadOnce())) return
  const notice = document.createElement('main')
  notice.className = accountStyles.errorPage
  const message = document.createElement('p')
  message.textContent = 'Atelier could not be loaded. · 無法載入 Atelier。 · 无法加载 Atelier。'
  const reload = document.createElement('button')
  reload.className = `${buttonStyles.btn} ${buttonStyles.ink}`
  reload.textContent = 'Load again · 重新載入 · 重新加载'
  reload.onclick = () => location.reload()
  notice.append(message, reload)
  root.replaceChildren(notice)
}

const root = document.getElementById('root')
if (!root) throw new Error('The page has no element #root')
startApp(root).catch((error: unknown) => showStartError(root, error))
