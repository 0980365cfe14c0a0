import { lazy } from '@/ui/lazy'

export { changedSearch, type SuggestionSearch, searchOf } from './search'

export const SuggestionsPage = lazy(() =>
  import('./components/SuggestionsPage').then(module => ({ default: module.SuggestionsPage })),
)
