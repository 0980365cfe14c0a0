import { useSyncExternalStore } from 'react'

const query = '(max-width: 719px)'

function subscribe(listener: () => void): () => void {
  const media = window.matchMedia(query)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}

/** Returns whether the window is narrow, so that one screen is shown at a time. */
export const useIsPhone = () => useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
