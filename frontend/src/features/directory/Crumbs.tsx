import { ArrowLeft, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ListingCategory, WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { directoryPath } from '@/lib/paths'
import { IconButton } from '@/ui/Button'
import layout from '@/ui/layout.module.css'
import { PathLink } from '@/ui/PathLink'
import styles from './Directory.module.css'

interface CrumbsProps {
  workspace: WorkspaceRow
  onGo(path: string): void
  category?: ListingCategory
  name?: string
  children?: ReactNode
}

/** The way back to the directory; `children` are the rest of the header. */
export function Crumbs({ workspace, onGo, category, name, children }: CrumbsProps) {
  const { t } = useTexts()
  const path = directoryPath(workspace.handle)
  return (
    <header className={layout.bar}>
      <IconButton label={t('directory')} onClick={() => onGo(path)}>
        <ArrowLeft className="i" />
      </IconButton>
      <nav className={cx(styles.crumbs, 'cut')} aria-label={t('directory')}>
        <span className="only-wide row">
          <PathLink path={path} onGo={onGo} className="muted">
            {t('directory')}
          </PathLink>
          {category ? (
            <>
              <ChevronRight className="i s faint" aria-hidden />
              <PathLink path={`${path}?category=${category}`} onGo={onGo} className="muted">
                {t(`directory.category.${category}`)}
              </PathLink>
            </>
          ) : null}
          {name ? <ChevronRight className="i s faint" aria-hidden /> : null}
        </span>
        {name ? <b className="cut">{name}</b> : null}
      </nav>
      <div className="end">{children}</div>
    </header>
  )
}
