import { Check, TriangleAlert, X } from 'lucide-react'
import { type AgentRow, type PublicationCheckRow, type PublicationRow, useDirectory, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { t, useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'
import { AgentCard, toCardFacts } from './AgentCard'
import styles from './Publish.module.css'
import type { PublicationValues } from './storedPublication'

interface CheckState {
  isChecking: boolean
  isUpdate: boolean
}

/** Returns why the agent cannot be published as it is entered, or null. */
export function findProblem(
  values: PublicationValues,
  check: PublicationCheckRow,
  { isChecking, isUpdate }: CheckState,
): string | null {
  if (!values.name.trim()) return t('publish.needsName')
  if (!isUpdate && !values.handle.trim()) return t('publish.needsHandle')
  if (!values.description.trim()) return t('publish.needsDescription')
  if (isChecking) return t('publish.checking')
  if (!check.name.is_free) return t('publish.needsFreeName')
  if (!isUpdate && !check.handle.is_free) return t('publish.needsFreeHandle')
  return null
}

interface PublishPreviewProps {
  values: PublicationValues
  check: PublicationCheckRow
  agent: AgentRow
  publication: PublicationRow
  workspace: WorkspaceRow
}

/** The card as others will see it, and what is missing. */
export function PublishPreview({ values, check, agent, publication, workspace }: PublishPreviewProps) {
  const { t } = useTexts()
  const { listing } = publication
  const [hasName, hasHandle] = [values.name.trim() !== '', values.handle.trim() !== '']
  const namesUnpublishedTool = check.unpublished_tools.some(tool => tool.lines.length > 0)
  return (
    <aside className={styles.preview} aria-label={t('publish.preview')}>
      <div className={styles.followed}>
        <h2 className={styles.caption}>
          {t('publish.preview')} <span className="faint regular">{t('publish.previewLead')}</span>
        </h2>
        <div className={blocks.card}>
          <AgentCard
            facts={{
              actor: {
                id: agent.actor.id,
                name: values.name.trim() || agent.actor.name,
                avatar: agent.actor.avatar ?? null,
                description: values.description,
              },
              badge: listing ? t('directory.yours') : t('publish.new'),
              publisher: workspace.name,
              tool_count: check.tools.length,
              workspace_count: listing ? listing.workspace_count : 0,
              run_count: listing ? listing.run_count : 0,
            }}
          />
        </div>
        <Neighbours values={values} ownId={listing?.actor.id} workspaceId={workspace.id} />
        <h2 className={styles.caption}>{t('publish.ready')}</h2>
        <ul className={cx(blocks.sec, blocks.rows, styles.ready)}>
          <Ready isDone={values.description.trim() !== ''} text={t('publish.readyDescription')} />
          <Ready
            isDone={hasName && check.name.is_free}
            text={t(hasName ? 'publish.readyName' : 'publish.readyHasName')}
          />
          {listing ? null : (
            <Ready
              isDone={hasHandle && check.handle.is_free}
              text={t(hasHandle ? 'publish.readyHandle' : 'publish.readyHasHandle')}
            />
          )}
          <Ready isDone={values.examples.some(example => example.trim())} isAdvice text={t('publish.readyExample')} />
          {namesUnpublishedTool ? <Ready isDone={false} isAdvice text={t('publish.readyTools')} /> : null}
        </ul>
      </div>
    </aside>
  )
}

/** Number of agents that are shown for comparison. */
const MAX_NEIGHBOURS = 2

interface NeighboursProps {
  values: PublicationValues
  /** The id of the public copy of the agent, if there is one. */
  ownId: string | undefined
  workspaceId: string
}

/** The most used public agents of the chosen category, which stand beside it in the directory. */
function Neighbours({ values: { category }, ownId, workspaceId }: NeighboursProps) {
  const { t } = useTexts()
  const query = useDirectory(workspaceId, { query: '', category, language: null, sort: 'use', scope: 'all' })
  const rows = query.data?.pages[0]?.results.filter(row => row.actor.id !== ownId).slice(0, MAX_NEIGHBOURS) ?? []
  if (rows.length === 0) return null
  return (
    <>
      <h2 className={styles.caption}>{t('publish.neighbours', { category: t(`directory.category.${category}`) })}</h2>
      {rows.map(row => (
        <div key={row.actor.id} className={blocks.card}>
          <AgentCard facts={toCardFacts(row, t)} />
        </div>
      ))}
    </>
  )
}

/** `isAdvice`: the agent can be published without it. */
function Ready({ isDone, isAdvice = false, text }: { isDone: boolean; isAdvice?: boolean; text: string }) {
  const { t } = useTexts()
  const Icon = isDone ? Check : isAdvice ? TriangleAlert : X
  return (
    <li>
      <Icon className={cx('i s', isDone ? 'ok' : isAdvice ? 'faint' : 'no')} aria-hidden />
      <span className="grow">{text}</span>
      <span className={isDone ? 'sr' : 'faint xs'}>
        {t(isDone ? 'publish.isDone' : isAdvice ? 'publish.advice' : 'publish.missing')}
      </span>
    </li>
  )
}
