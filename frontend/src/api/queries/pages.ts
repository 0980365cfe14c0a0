/** A page of a list. `next` is the cursor of the next one. */
interface Page<T> {
  results: T[]
  next: string | null
}

/** Builds the query parameter that selects a page; an empty cursor selects the first. */
export const buildPageQuery = (cursor: string) => (cursor ? { cursor } : {})

/** Reads all pages of a list, in order. */
export async function fetchAllPages<T>(read: (page: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const results: T[] = []
  let next: string | null = ''
  while (next !== null) {
    const page: Page<T> = await read(buildPageQuery(next))
    results.push(...page.results)
    next = page.next
  }
  return results
}
