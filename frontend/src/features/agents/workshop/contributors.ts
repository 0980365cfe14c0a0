/** The names of a draft's contributors. */
import type { Provenance } from '@/api'
import type { useTexts } from '@/lib/language'

type T = ReturnType<typeof useTexts>['t']
type Contributor = Provenance['contributors'][number]

/** An agent that wrote by itself is named with the person whose run it was: it never bears that person's name. */
export const contributorName = (contributor: Contributor, t: T): string =>
  contributor.in_run_of
    ? t('contributorInRun', { agent: contributor.name, person: contributor.in_run_of })
    : contributor.name

/** What one side of a conflict is called: one author may have two suggestions in it. */
export const contributorSide = (contributor: Contributor, t: T): string =>
  contributor.title || contributorName(contributor, t)

/** Who is party to a conflict: by name, or by what they suggest where that is one person. */
export function partyNames(contributors: readonly Contributor[], t: T): string[] {
  const names = [...new Set(contributors.map(contributor => contributorName(contributor, t)))]
  return names.length === 1 && contributors.length > 1
    ? [...new Set(contributors.map(contributor => contributorSide(contributor, t)))]
    : names
}
