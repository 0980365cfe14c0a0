/** What every component test begins with: the styles, and the texts in English. */
import '@/styles/index.css'
import { showIn } from '@/lib/language'

await showIn('en')
