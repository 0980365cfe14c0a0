import { useTexts } from '@/lib/language'
import { Link } from '@/ui/prose/parts'
import type { WebPage } from '../webPage'
import { LazyProse } from './LazyProse'

/** A handle in a stranger's text means none of us. */
const nobody = () => null

/** A page that an agent has read: where it is from, then its text, drawn like anything a stranger wrote. */
export function WebPageResult({ page }: { page: WebPage }) {
  const { t } = useTexts()
  return (
    <div className="b res page">
      <p className="source">
        <Link href={page.url}>{page.title}</Link>
        {page.site ? <span>{page.site}</span> : null}
        {page.published ? <span>{t('pagePublished', { date: page.published })}</span> : null}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className="read" tabIndex={0}>
        <LazyProse text={page.text} names={nobody} />
      </div>
      {page.note ? <p className="muted">{page.note}</p> : null}
    </div>
  )
}
