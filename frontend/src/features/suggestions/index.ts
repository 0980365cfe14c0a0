import { lazy } from '@/ui/lazy'

export { changeSearch, parseSuggestionSearch, type SuggestionSearch } from './search'

export const SuggestionsPage = lazy(() =>
  import('./components/SuggestionsPage').then(module => ({ default: module.SuggestionsPage })),
)
