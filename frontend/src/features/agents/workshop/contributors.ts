/** The names of a draft's contributors. */
import type { Provenance } from '@/api'
import type { useTexts } from '@/lib/language'

type T = ReturnType<typeof useTexts>['t']
type Contributor = Provenance['contributors'][number]

/** Returns the name of a contributor. For an agent, the name of the person whose run it was is added. */
export const getContributorName = (contributor: Contributor, t: T): string =>
  contributor.in_run_of
    ? t('contributorInRun', { agent: contributor.name, person: contributor.in_run_of })
    : contributor.name

/** Returns the label of one side of a conflict: the title of the suggestion, since one author may have two. */
export const getContributorLabel = (contributor: Contributor, t: T): string =>
  contributor.title || getContributorName(contributor, t)

/** Lists the parties of a conflict by name, or by title when all are the same person. */
export function listContributorNames(contributors: readonly Contributor[], t: T): string[] {
  const names = [...new Set(contributors.map(contributor => getContributorName(contributor, t)))]
  return names.length === 1 && contributors.length > 1
    ? [...new Set(contributors.map(contributor => getContributorLabel(contributor, t)))]
    : names
}
