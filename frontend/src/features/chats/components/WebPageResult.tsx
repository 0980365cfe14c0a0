import type { WebPage } from '@/api'
import { cx } from '@/lib/cx'
import { type Texts, useTexts } from '@/lib/language'
import { formatNumber } from '@/lib/time'
import { Link } from '@/ui/prose/parts'
import { LazyProse } from './LazyProse'
import toolCallPartStyles from './ToolCallPart.module.css'

/** Handles in the text of a web page are not mentions. */
const findNoName = () => null

/** Lists notes that say which part of the page is shown. */
function listNotes({ text, start, end, total, is_cut: isCut }: WebPage, t: Texts['t']): string[] {
  const [from, to, all] = [formatNumber(start), formatNumber(end), formatNumber(total)]
  const isPart = start > 0 || end < total
  return [
    ...(text ? [] : [t('pageEmpty')]),
    ...(isPart ? [t('pagePart', { start: from, end: to, total: all })] : []),
    ...(isCut && end >= total ? [t('pageCut')] : []),
  ]
}

/** A web page that an agent has read: its source, then its text as untrusted Markdown. */
export function WebPageResult({ page }: { page: WebPage }) {
  const { t } = useTexts()
  return (
    <div className={cx(toolCallPartStyles.b, toolCallPartStyles.res, toolCallPartStyles.page)}>
      <p className={toolCallPartStyles.source}>
        <Link href={page.url} text={page.title}>
          {page.title}
        </Link>
        {page.site ? <span>{page.site}</span> : null}
        {page.published ? <span>{t('pagePublished', { date: page.published })}</span> : null}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={toolCallPartStyles.read} tabIndex={0}>
        <LazyProse text={page.text} findName={findNoName} />
      </div>
      {listNotes(page, t).map(note => (
        <p key={note} className="muted">
          {note}
        </p>
      ))}
    </div>
  )
}
