/** The setup of every component test: the styles and the texts in English. */
import '@/styles/index.css'
import { loadLanguage, loadLazyTexts } from '@/lib/language'

await loadLanguage('en')
await loadLazyTexts()
