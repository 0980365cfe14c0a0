/** Small things that survive a reload. A browser that keeps nothing (private windows, full disks) is no error. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null || value === '') localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Nothing to do: the text stays on the screen.
  }
}

/** Whether this browser keeps anything now. */
export function canKeep(): boolean {
  try {
    localStorage.setItem('atelier.probe', '1')
    localStorage.removeItem('atelier.probe')
    return true
  } catch {
    return false
  }
}

export function kept<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(key)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}
