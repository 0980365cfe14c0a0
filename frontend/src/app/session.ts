/** The signed-in person of this page. When another person, or no one, is signed in, the sign-in page is loaded. */
import { hashKey, type QueryClient } from '@tanstack/react-query'
import { keys, type Me, meQuery, onUnauthenticated, setRequestPerson } from '@/api'
import { startOutbox } from '@/features/chats'
import { removeUnowned, setStorageOwner } from '@/lib/storage'
import { setViewing } from '@/lib/viewing'
import { onSignedOut, stopRealtime } from '@/realtime'

const LAST_PERSON_KEY = 'atelier.person'
/** Delay in ms before `/me` is read after a socket has ended. A change of the password ends sockets before its response arrives. */
const SETTLE_MS = 500

interface Session {
  person: string | null
  /** The person who was signed in in this tab before this page was loaded. */
  previousPerson: string | null
  hasEnded: boolean
}

const session: Session = { person: null, previousPerson: null, hasEnded: false }

/** Watches the signed-in person: the first one starts the session, any change after that ends it. */
export function watchSession(client: QueryClient): void {
  // The server has marked a page that was requested without a session: `/me` would only answer that nobody is signed in.
  if ('anonymous' in document.documentElement.dataset) client.setQueryData(keys.me, null)
  const meHash = hashKey(keys.me)
  const refetchMe = () => void client.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined)
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== meHash || query.state.data === undefined) return
    const me = query.state.data as Me | null
    const id = me?.actor.id ?? null
    if (session.person === null && me) startSession(me.actor.id, Boolean(me.viewing))
    else if (id !== session.person) endSession(client, buildSignInPath())
  })
  onUnauthenticated(refetchMe)
  onSignedOut(() => setTimeout(refetchMe, SETTLE_MS))
  // Going back may restore a page from the cache, although another person is signed in now.
  window.addEventListener('pageshow', event => event.persisted && location.reload())
}

function startSession(person: string, isViewing: boolean): void {
  session.person = person
  session.previousPerson = sessionStorage.getItem(LAST_PERSON_KEY)
  sessionStorage.setItem(LAST_PERSON_KEY, person)
  setRequestPerson(person)
  setViewing(isViewing)
  // An operator's browser keeps nothing of the person, and sends nothing as the person.
  if (isViewing) return
  setStorageOwner(person)
  removeUnowned()
  startOutbox()
}

const buildSignInPath = () => `/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`

/** Ends the socket, clears what was read, and leaves the page. What the browser stores for this person stays. */
function endSession(client: QueryClient, to: string): void {
  if (session.hasEnded) return
  session.hasEnded = true
  stopRealtime()
  client.clear()
  location.assign(to)
}

/**
 * Ends the session after a sign-out, and opens the sign-in page without `next`, so that the next person is not sent to the page of
 * this one. `LAST_PERSON_KEY` is removed: otherwise `pathAfterSignIn` would ignore the `next` of a link that another person opens.
 */
export function endSessionAfterSignOut(client: QueryClient): void {
  sessionStorage.removeItem(LAST_PERSON_KEY)
  endSession(client, '/sign-in')
}

/** Leaves the page of a viewed person, after the viewing has ended. */
export function leaveViewing(client: QueryClient, to: string): void {
  sessionStorage.removeItem(LAST_PERSON_KEY)
  endSession(client, to)
}

/** Accepts only paths inside the app, so that a URL from outside cannot redirect out of it. */
export const toInternalPath = (next: unknown): string | undefined =>
  typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined

/**
 * Returns the path to open after sign-in: `wanted`, unless it is none of the app, or another person used this tab before. Invite links
 * are always followed.
 */
export function pathAfterSignIn(wanted: unknown): string {
  // The router passes on the `next` of the URL also if `parseNext` has refused it.
  const next = toInternalPath(wanted)
  if (!next) return '/'
  const isPathOfAnotherPerson = session.previousPerson !== null && session.previousPerson !== session.person
  return isPathOfAnotherPerson && !next.startsWith('/join/') ? '/' : next
}
