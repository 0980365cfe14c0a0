import type { SpecRow } from '@/api'
import type { Texts } from '@/lib/language'

/** How a version came to be, in a word. */
export function originText(t: Texts['t'], spec: SpecRow): string {
  if (spec.origin === 'restored' && spec.base_number) return t('origin.restored', { version: `v${spec.base_number}` })
  if (spec.origin === 'restored' || spec.origin === 'applied') return t('origin.draft')
  return t(`origin.${spec.origin}`)
}
