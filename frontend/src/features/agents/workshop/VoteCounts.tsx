import type { VoteCount } from '@/api'
import { LayerIcon } from '@/features/layers'
import { useTexts } from '@/lib/language'
import workshopStyles from './Workshop.module.css'

/** How the participants of the chat voted on each apply of a draft, the newest first. */
export function VoteCounts({ votes }: { votes: readonly VoteCount[] }) {
  const { t } = useTexts()
  const voted = votes.filter(vote => vote.draft + vote.equal + vote.production > 0)
  if (voted.length === 0) return null
  return (
    <section className={workshopStyles.votes} aria-label={t('compare.votes')}>
      <h3 className="muted xs">{t('compare.votes')}</h3>
      <ul>
        {voted.toReversed().map(({ draft_apply, draft, equal, production }) => (
          <li key={draft_apply} className="row num">
            <LayerIcon layer="applied" />
            {t('compare.voteCounts', { apply: `r${draft_apply}`, count: draft, equal, production })}
          </li>
        ))}
      </ul>
    </section>
  )
}
