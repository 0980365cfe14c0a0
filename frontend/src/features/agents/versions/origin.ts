import type { ListedSuggestionRow, SpecRow } from '@/api'
import type { Texts } from '@/lib/language'
import { formatList } from '@/lib/names'

/** Describes the origin of a version, with the authors of the suggestions in it. */
export function describeOrigin(t: Texts['t'], spec: SpecRow, suggestions: readonly ListedSuggestionRow[]): string {
  if (suggestions.length > 0) {
    const names = formatList([...new Set(suggestions.map(row => row.author.name))])
    return t('origin.suggestionsOf', { count: suggestions.length, names })
  }
  if (spec.origin === 'restored' && spec.base_version) return t('origin.restored', { version: `v${spec.base_version}` })
  if (spec.origin === 'restored' || spec.origin === 'applied') return t('origin.draft')
  return t(`origin.${spec.origin}`)
}
