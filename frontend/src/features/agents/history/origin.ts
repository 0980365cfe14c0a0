import type { SpecRow } from '@/api'
import type { Texts } from '@/lib/language'

/** How a version came to be, in a word. `suggestions`: how many went into it. */
export function originText(t: Texts['t'], spec: SpecRow, suggestions: number): string {
  if (suggestions > 0) return t('origin.suggestions', { count: suggestions })
  if (spec.origin === 'restored' && spec.base_number) return t('origin.restored', { version: `v${spec.base_number}` })
  if (spec.origin === 'restored' || spec.origin === 'applied') return t('origin.draft')
  return t(`origin.${spec.origin}`)
}
