const last = new Map<string, Promise<unknown>>()

/**
 * Do one piece of work at a time under a name, in all tabs of this browser. Browsers lock across tabs only for pages that came
 * over HTTPS or from this machine; for other pages the lock works within the tab only.
 */
export function runExclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks
  if (locks) return locks.request(name, work)
  const before = last.get(name) ?? Promise.resolve()
  const mine = before.then(work, work)
  last.set(name, mine)
  return mine
}
