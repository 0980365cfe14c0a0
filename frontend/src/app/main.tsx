import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '@/styles/index.css'
import { chosenLanguage, showIn } from '@/lib/language'
import { showChosenTheme } from '@/lib/theme'
import { Providers } from './providers'

async function start(): Promise<void> {
  showChosenTheme()
  await showIn(chosenLanguage())
  const root = document.getElementById('root')
  if (!root) throw new Error('The page has no place for the app')
  createRoot(root).render(
    <StrictMode>
      <Providers />
    </StrictMode>,
  )
}

void start()
