import type { Tally } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import workshopStyles from './Workshop.module.css'

/** How the members of the chat voted on each apply of a draft, the newest first. */
export function VoteTally({ votes }: { votes: readonly Tally[] }) {
  const { t } = useTexts()
  const counted = votes.filter(tally => tally.draft + tally.equal + tally.production > 0)
  if (counted.length === 0) return null
  return (
    <section className={workshopStyles.votes} aria-label={t('compare.votes')}>
      <h3 className="muted xs">{t('compare.votes')}</h3>
      <ul>
        {counted.toReversed().map(({ draft_apply, draft, equal, production }) => (
          <li key={draft_apply} className="row num">
            <LayerIcon layer="applied" />
            {t('compare.tally', { apply: `r${draft_apply}`, draft, equal, production })}
          </li>
        ))}
      </ul>
    </section>
  )
}
