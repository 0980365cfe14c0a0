import type { Tally } from '@/api'
import { useTexts } from '@/lib/language'
import { Mark } from '@/ui/Mark'

/** How the room voted on each apply of a draft, the newest first. */
export function Votes({ votes }: { votes: readonly Tally[] }) {
  const { t } = useTexts()
  const counted = votes.filter(tally => tally.draft + tally.equal + tally.production > 0)
  if (counted.length === 0) return null
  return (
    <section className="votes" aria-label={t('compare.votes')}>
      <h3 className="muted xs">{t('compare.votes')}</h3>
      <ul>
        {counted.toReversed().map(({ draft_apply, draft, equal, production }) => (
          <li key={draft_apply} className="row num">
            <Mark layer="applied" />
            {t('compare.tally', { apply: `r${draft_apply}`, draft, equal, production })}
          </li>
        ))}
      </ul>
    </section>
  )
}
