/** Finding entries by what is typed. Pure. */

export interface Entry {
  id: string
  label: string
  end?: string
}

const low = (text: string) => text.toLocaleLowerCase()

/** Entries that hold every word, those that begin with the query first; each group keeps its order. */
export function found<T extends Entry>(entries: readonly T[], query: string): T[] {
  const words = low(query).split(/\s+/).filter(Boolean)
  const text = (entry: T) => low(`${entry.label} ${entry.end ?? ''}`)
  return entries.filter(entry => words.every(word => text(entry).includes(word)))
}

/** A label cut where the query stands in it: odd pieces are the hits. */
export function marked(label: string, query: string): string[] {
  const wanted = low(query.trim())
  const at = wanted ? low(label).indexOf(wanted) : -1
  if (at < 0) return [label]
  return [label.slice(0, at), label.slice(at, at + wanted.length), label.slice(at + wanted.length)]
}
