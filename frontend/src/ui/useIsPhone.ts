import { useSyncExternalStore } from 'react'

const query = '(max-width: 719px)'

function subscribe(listener: () => void): () => void {
  const media = window.matchMedia(query)
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}

/** Whether one screen at a time is shown. */
export const useIsPhone = () => useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
