/** Small things that survive a reload, each person's apart. A browser that keeps nothing (private windows, full disks) is no error. */
let owner: string | null = null

/** A key that names its person already stays as it is. */
const storageKey = (key: string) => (owner && key.split('.').includes(owner) ? key : `${key}@${owner}`)

/**
 * Set whose things are read and written. A page belongs to one person: it is set once, and another person gets a new page.
 * Without an owner nothing is kept and nothing is found.
 */
export function setStorageOwner(personId: string | null): void {
  owner = personId
}

export function writeStored(key: string, value: unknown): void {
  if (owner === null) return
  try {
    if (value === null || value === '') localStorage.removeItem(storageKey(key))
    else localStorage.setItem(storageKey(key), JSON.stringify(value))
  } catch {
    // Nothing to do: the text stays on the screen.
  }
}

/** Whether this browser keeps anything now. */
export function canStore(): boolean {
  if (owner === null) return false
  try {
    localStorage.setItem('atelier.probe', '1')
    localStorage.removeItem('atelier.probe')
    return true
  } catch {
    return false
  }
}

export function readStored<T>(key: string, otherwise: T): T {
  if (owner === null) return otherwise
  try {
    const text = localStorage.getItem(storageKey(key))
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

/** Everything that is kept under names with this beginning, by the rest of its name. */
export function listStored<T>(prefix: string): Map<string, T> {
  const found = new Map<string, T>()
  try {
    for (const name of Object.keys(localStorage)) {
      const rest = restOf(name, prefix)
      const value = rest === null ? null : readStored<T | null>(prefix + rest, null)
      if (rest !== null && value !== null) found.set(rest, value)
    }
  } catch {
    // Nothing is kept here.
  }
  return found
}

function restOf(name: string, prefix: string): string | null {
  const end = `@${owner}`
  return owner !== null && name.startsWith(prefix) && name.endsWith(end) ? name.slice(prefix.length, -end.length) : null
}

/** Call the listener when another tab of the owner keeps or removes (null) something under such a name. Return how to stop that. */
export function onStoredElsewhere<T>(prefix: string, listener: (rest: string, value: T | null) => void): () => void {
  const onStorage = (event: StorageEvent) => {
    const rest = event.key === null ? null : restOf(event.key, prefix)
    if (rest !== null) listener(rest, readStored<T | null>(prefix + rest, null))
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}

/** Remove what was kept without an owner: nobody can say any more who wrote it. */
export function removeUnowned(): void {
  try {
    for (const name of Object.keys(localStorage))
      if (/^atelier\.(unsent$|text\.|chat\.|workspace$|settled\.)/.test(name) && !name.includes('@'))
        localStorage.removeItem(name)
  } catch {
    // Nothing is kept here.
  }
}
