/** How the voices of a draft are called. */
import type { Provenance } from '@/api'
import type { useTexts } from '@/lib/language'

type T = ReturnType<typeof useTexts>['t']
type Contributor = Provenance['voices'][number]

/** An agent that wrote by itself is named with the person whose run it was: it never bears that person's name. */
export const contributorName = (voice: Contributor, t: T): string =>
  voice.in_run_of ? t('voiceInRun', { agent: voice.name, person: voice.in_run_of }) : voice.name

/** What one side of a conflict is called: one author may have two suggestions in it. */
export const contributorSide = (voice: Contributor, t: T): string => voice.title || contributorName(voice, t)

/** Who is party to a conflict: by name, or by what they suggest where that is one person. */
export function partiesOf(voices: readonly Contributor[], t: T): string[] {
  const names = [...new Set(voices.map(voice => contributorName(voice, t)))]
  return names.length === 1 && voices.length > 1 ? [...new Set(voices.map(voice => contributorSide(voice, t)))] : names
}
