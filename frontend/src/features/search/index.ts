import { lazy } from '@/ui/lazy'

export { changeSearch, isSearchable, parseMessageSearch } from './search'

export const SearchPage = lazy(() => import('./components/SearchPage').then(module => ({ default: module.SearchPage })))

/** Loads the function that marks words on the screen. */
export const loadMarkWords = () => import('./highlight').then(module => module.markWords)
