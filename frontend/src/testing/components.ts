/** What every component test begins with: the styles, and the texts in English. */
import '@/styles/index.css'
import { loadLanguage } from '@/lib/language'

await loadLanguage('en')
