/** Who is signed in at this page. A page belongs to one person: for somebody else, or nobody, it is loaded anew. */
import { hashKey, type QueryClient } from '@tanstack/react-query'
import { keys, type Me, meQuery, onUnauthenticated, setRequestPerson } from '@/api'
import { startOutbox } from '@/features/chats'
import { removeUnowned, setStorageOwner } from '@/lib/storage'
import { onSignedOut, stopLive } from '@/realtime'

const LAST = 'atelier.person'
/** A new password ends the sockets while the answer with the new session is still on its way. */
const SETTLE_MS = 500

interface Session {
  person: string | null
  /** Who was signed in in this tab before this page. */
  before: string | null
  isOver: boolean
}

const session: Session = { person: null, before: null, isOver: false }

/** Watches who is signed in: the first person gets the page, any change after that ends it. */
export function watchSession(client: QueryClient): void {
  const mine = hashKey(keys.me)
  const ask = () => void client.fetchQuery({ ...meQuery, staleTime: 0 }).catch(() => undefined)
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== mine || query.state.data === undefined) return
    const id = (query.state.data as Me | null)?.actor.id ?? null
    if (session.person === null && id !== null) begin(id)
    else if (id !== session.person) endSession(client, signInPath())
  })
  onUnauthenticated(ask)
  onSignedOut(() => setTimeout(ask, SETTLE_MS))
  // Going back may show a page as it was left, whoever is signed in now.
  window.addEventListener('pageshow', event => event.persisted && location.reload())
}

function begin(person: string): void {
  session.person = person
  session.before = sessionStorage.getItem(LAST)
  sessionStorage.setItem(LAST, person)
  setStorageOwner(person)
  removeUnowned()
  setRequestPerson(person)
  startOutbox()
}

const signInPath = () => `/sign-in?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`

/** Forgets everything of this person and leaves the page: nothing of it is there for the next one. */
function endSession(client: QueryClient, to: string): void {
  if (session.isOver) return
  session.isOver = true
  stopLive()
  client.clear()
  location.assign(to)
}

/** For a person who leaves on purpose: who comes next in this tab is not led where they were. */
export function signOutHere(client: QueryClient): void {
  sessionStorage.removeItem(LAST)
  endSession(client, '/sign-in')
}

/** Where somebody who has just signed in goes: not to where another person was in this tab. An invitation is for anybody. */
export function pathAfterSignIn(next: string | undefined): string {
  if (!next) return '/'
  const isForeign = session.before !== null && session.before !== session.person
  return isForeign && !next.startsWith('/join/') ? '/' : next
}
