/** Small data that survives a reload, stored per person. If it cannot be stored (private window, full disk), there is no error. */
let owner: string | null = null

/** Adds the owner to a key, unless it already contains the owner. */
const buildStorageKey = (key: string) => (owner && key.split('.').includes(owner) ? key : `${key}@${owner}`)

/**
 * Sets the owner of the data that is read and written. It is set once per page, because another person gets a new page.
 * Without an owner, nothing is stored and nothing is read.
 */
export function setStorageOwner(personId: string | null): void {
  owner = personId
}

export function writeStored(key: string, value: unknown): void {
  if (owner === null) return
  try {
    if (value === null || value === '') localStorage.removeItem(buildStorageKey(key))
    else localStorage.setItem(buildStorageKey(key), JSON.stringify(value))
  } catch {
    // The data cannot be stored; it remains in memory.
  }
}

/** Returns whether this browser can store data now. */
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

export function readStored<T>(key: string, fallback: T): T {
  if (owner === null) return fallback
  try {
    const text = localStorage.getItem(buildStorageKey(key))
    return text === null ? fallback : (JSON.parse(text) as T)
  } catch {
    return fallback
  }
}

/** Returns all stored values whose keys start with a prefix, by the rest of the key. */
export function listStored<T>(prefix: string): Map<string, T> {
  const values = new Map<string, T>()
  try {
    for (const name of Object.keys(localStorage)) {
      const rest = removePrefix(name, prefix)
      const value = rest === null ? null : readStored<T | null>(prefix + rest, null)
      if (rest !== null && value !== null) values.set(rest, value)
    }
  } catch {
    // The storage is not available.
  }
  return values
}

function removePrefix(name: string, prefix: string): string | null {
  const end = `@${owner}`
  return owner !== null && name.startsWith(prefix) && name.endsWith(end) ? name.slice(prefix.length, -end.length) : null
}

/**
 * Calls the listener when another tab of the owner stores or removes a value under a key with this prefix: with the rest of
 * the key, and the value or null. Returns a function that stops this.
 */
export function onStoredElsewhere<T>(prefix: string, listener: (suffix: string, value: T | null) => void): () => void {
  const onStorage = (event: StorageEvent) => {
    const suffix = event.key === null ? null : removePrefix(event.key, prefix)
    if (suffix !== null) listener(suffix, readStored<T | null>(prefix + suffix, null))
  }
  window.addEventListener('storage', onStorage)
  return () => window.removeEventListener('storage', onStorage)
}

/** Removes data that was stored without an owner, because its author is unknown. */
export function removeUnowned(): void {
  try {
    for (const name of Object.keys(localStorage))
      if (/^atelier\.(unsent$|text\.|chat\.|workspace$|settled\.)/.test(name) && !name.includes('@'))
        localStorage.removeItem(name)
  } catch {
    // The storage is not available.
  }
}
