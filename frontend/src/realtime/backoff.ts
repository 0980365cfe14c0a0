/** Returns the delay before an attempt, in ms: full jitter between 0.5 s and a ceiling that doubles up to 30 s. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(30_000, 1_000 * 2 ** attempt)
  return 500 + random() * (ceiling - 500)
}
