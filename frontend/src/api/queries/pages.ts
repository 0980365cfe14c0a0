/** A page of a list. `next` is the cursor of the next one. */
interface Page<T> {
  results: T[]
  next: string | null
}

/** The part of a query string that names a page; the first one without a cursor. */
export const pageQuery = (cursor: string) => (cursor ? { cursor } : {})

/** All pages of a list, in order. */
export async function fetchAllPages<T>(read: (page: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const results: T[] = []
  let next: string | null = ''
  while (next !== null) {
    const page: Page<T> = await read(pageQuery(next))
    results.push(...page.results)
    next = page.next
  }
  return results
}
