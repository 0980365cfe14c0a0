const last = new Map<string, Promise<unknown>>()

/**
 * Runs one piece of work at a time under a name, across all tabs of this browser. Browsers offer locks across tabs only for pages
 * served over HTTPS or from this machine; for other pages the lock works within the tab only.
 */
export function runExclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks
  if (locks) return locks.request(name, work)
  const before = last.get(name) ?? Promise.resolve()
  const next = before.then(work, work)
  last.set(name, next)
  return next
}
