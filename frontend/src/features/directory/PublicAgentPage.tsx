import { ArrowUpRight, Check, Flag, Link2, MessageSquarePlus, Minus, Plus, Wrench } from 'lucide-react'
import { useState } from 'react'
import {
  type DirectoryDetailRow,
  readTakenDown,
  tryPublicAgent,
  useAgents,
  useOfferedTools,
  usePublicAgent,
  type WorkspaceRow,
} from '@/api'
import { ToolName } from '@/features/agents'
import { cx } from '@/lib/cx'
import { type Texts, useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortDate } from '@/lib/time'
import { getToolTextKey } from '@/lib/toolTexts'
import { Avatar } from '@/ui/Avatar'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { copyText } from '@/ui/copy'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { showToast } from '@/ui/toast'
import { AddToChatDialog } from './AddToChatDialog'
import { getDescription } from './AgentCard'
import { AgentFacts, InUseHere } from './AgentFacts'
import { Crumbs } from './Crumbs'
import styles from './Directory.module.css'
import { useNewChat } from './newChat'
import { PublisherBox } from './PublisherBox'
import { ReportDialog } from './ReportDialog'
import { TakenDown } from './TakenDown'
import { UseAsToolDialog } from './UseAsToolDialog'

interface PublicAgentPageProps {
  workspace: WorkspaceRow
  /** The handles of the reader's workspaces, by their ids. */
  workspaceHandles: ReadonlyMap<string, string>
  /** The handle or the id of the agent. */
  handle: string
  onGo(path: string): void
}

/** The page of a public agent. */
export function PublicAgentPage(props: PublicAgentPageProps) {
  const query = usePublicAgent(props.handle)
  const takenDown = readTakenDown(query.error)
  if (takenDown) return <TakenDown agent={takenDown} {...props} />
  if (query.data && !query.error) return <OpenPage agent={query.data} {...props} />
  return (
    <main className={layout.stage} tabIndex={-1}>
      <Crumbs {...props} />
      <div className={cx(layout.page, layout.pad)}>
        <Loading query={query} lines={8} />
      </div>
    </main>
  )
}

function OpenPage({
  agent,
  workspace,
  workspaceHandles,
  onGo,
}: Omit<PublicAgentPageProps, 'handle'> & { agent: DirectoryDetailRow }) {
  const { t } = useTexts()
  const [isReporting, setReporting] = useState(false)
  const { actor } = agent
  const copyLink = async () => {
    const isCopied = await copyText(`${location.origin}/directory/${actor.handle}`)
    showToast(t(isCopied ? 'directory.linkCopied' : 'copyFailed'))
  }
  const { busy, error, begin } = useNewChat(workspace, onGo)
  const tryAgent = (text = '') => begin(() => tryPublicAgent(actor.id, workspace.id), text)
  const about = getDescription(agent, t)
  const mayTakeDown = agent.verbs.includes('take_down_agent')
  return (
    <main className={layout.stage} tabIndex={-1}>
      <Crumbs workspace={workspace} onGo={onGo} category={agent.category} name={actor.name}>
        <IconButton label={t('directory.copyLink')} onClick={() => void copyLink()}>
          <Link2 className="i" />
        </IconButton>
        {mayTakeDown ? null : (
          <IconButton label={t('report.dots')} aria-haspopup="dialog" onClick={() => setReporting(true)}>
            <Flag className="i" />
          </IconButton>
        )}
      </Crumbs>
      <div className={layout.page}>
        <div className={cx(layout.pad, styles.detail)}>
          <div className={styles.main}>
            <div className={styles.hero}>
              <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="xxl" />
              <div className={styles.titles}>
                <h1>{actor.name}</h1>
                <p className="faint sm">
                  @{actor.handle} · {agent.publisher_name ?? t('directory.shipped')} ·{' '}
                  {t('directory.versionOf', { version: agent.version, date: formatShortDate(getVersionDate(agent)) })} ·{' '}
                  {t(`directory.category.${agent.category}`)}
                </p>
              </div>
              {agent.is_suspended ? null : (
                <Uses
                  agent={agent}
                  workspace={workspace}
                  busy={busy ? t('makingChat') : null}
                  onTry={() => tryAgent()}
                  onGo={onGo}
                />
              )}
            </div>
            <ErrorBanner error={error} />
            {agent.is_suspended ? <p className="no">{t('publish.isSuspended')}</p> : null}
            {about ? (
              <p className={styles.description} lang={detectLanguage(about)}>
                {about}
              </p>
            ) : null}
            <Examples examples={agent.examples} isBusy={busy} onPick={tryAgent} />
            <Tools agent={agent} workspaceId={workspace.id} />
            <Sight agent={agent} />
            <Versions agent={agent} />
          </div>
          <aside className={styles.aside} aria-label={t('directory.facts')}>
            <AgentFacts agent={agent} />
            <InUseHere agentId={actor.id} workspace={workspace} onGo={onGo} />
            {mayTakeDown || agent.origin_id ? (
              <PublisherBox agent={agent} workspaceHandles={workspaceHandles} onGo={onGo} />
            ) : null}
          </aside>
        </div>
      </div>
      {isReporting ? <ReportDialog actor={actor} onClose={() => setReporting(false)} /> : null}
    </main>
  )
}

const getVersionDate = ({ versions, published_at }: DirectoryDetailRow) => versions[0]?.created_at ?? published_at

interface UsesProps extends Pick<PublicAgentPageProps, 'workspace' | 'onGo'> {
  agent: DirectoryDetailRow
  /** The running action, or null. */
  busy: string | null
  onTry(): void
}

/** The ways to use the agent here. */
function Uses({ agent, workspace, busy, onTry, onGo }: UsesProps) {
  const { t } = useTexts()
  const [isAdding, setAdding] = useState(false)
  const [isToolDialogOpen, setToolDialogOpen] = useState(false)
  const mayEditAnyAgent = useAgents(workspace.id).data?.some(row => row.verbs.includes('edit_draft')) ?? false
  return (
    <div className={styles.uses}>
      <Button tone="ink" busy={busy} onClick={onTry}>
        <MessageSquarePlus className="i s" aria-hidden />
        {t('directory.try')}
      </Button>
      <Button aria-haspopup="dialog" onClick={() => setAdding(true)}>
        <Plus className="i s" aria-hidden />
        {t('directory.addToChat')}
      </Button>
      {mayEditAnyAgent ? (
        <Button aria-haspopup="dialog" onClick={() => setToolDialogOpen(true)}>
          <Wrench className="i s" aria-hidden />
          {t('agentTool.dots')}
        </Button>
      ) : null}
      {isToolDialogOpen ? (
        <UseAsToolDialog
          actor={agent.actor}
          toolName={agent.tool_name}
          workspace={workspace}
          onGo={onGo}
          onClose={() => setToolDialogOpen(false)}
        />
      ) : null}
      {isAdding ? (
        <AddToChatDialog actor={agent.actor} workspace={workspace} onGo={onGo} onClose={() => setAdding(false)} />
      ) : null}
    </div>
  )
}

interface ExamplesProps {
  examples: readonly string[]
  isBusy: boolean
  onPick(example: string): void
}

/** Examples of what to ask. Each begins a chat with its text in the composer. */
function Examples({ examples, isBusy, onPick }: ExamplesProps) {
  const { t } = useTexts()
  if (examples.length === 0) return null
  return (
    <section>
      <h2 className={styles.caption}>{t('directory.examples')}</h2>
      <ul className={styles.examples}>
        {examples.map(example => (
          <li key={example}>
            <button type="button" aria-disabled={isBusy || undefined} onClick={() => onPick(example)}>
              <span className="grow" lang={detectLanguage(example)}>
                {example}
              </span>
              <ArrowUpRight className="i s faint" aria-hidden />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ToolsProps {
  agent: Pick<DirectoryDetailRow, 'tools'>
  workspaceId: string
}

/** Its tools, and what the policies of this workspace say about each. */
function Tools({ agent, workspaceId }: ToolsProps) {
  const { t } = useTexts()
  const policies = new Map(useOfferedTools(workspaceId).data?.map(tool => [tool.name, tool.policy]))
  const describe = ({ name, effect }: (typeof agent.tools)[number]): string => {
    const policy = policies.get(name)
    if (policy === 'off') return t('directory.policy.off')
    const does = t(effect === 'read' ? 'directory.reads' : 'directory.writes')
    if (!policy) return does
    // What a public agent reads is from outside, so each of its calls that writes needs an approval.
    return `${does} · ${t(effect === 'write' || policy === 'ask' ? 'directory.policy.ask' : 'directory.policy.auto')}`
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('tools')}
        <span className="end faint xs only-wide">{t('directory.policyDecides')}</span>
      </h2>
      {agent.tools.length > 0 ? (
        <ul className={cx(blocks.rows, blocks.in)}>
          {agent.tools.map(tool => {
            const text = getToolTextKey(tool.name)
            return (
              <li key={tool.name} className={styles.tool}>
                <ToolName tool={tool.name} />
                <span className="muted cut grow only-wide">{text ? t(text) : firstSentence(tool.description)}</span>
                <span className="faint nowrap">{describe(tool)}</span>
              </li>
            )
          })}
        </ul>
      ) : (
        <p className={cx(blocks.b, 'faint sm')}>{t('directory.noTools')}</p>
      )}
    </section>
  )
}

const firstSentence = (text: string) => /^[^\n]*?[.。](?=\s|$)|^[^\n]*/.exec(text)?.[0] ?? text

/** What the agent and its publisher get to see. */
function Sight({ agent }: { agent: DirectoryDetailRow }) {
  const { t } = useTexts()
  const publisher = agent.publisher_name
  const lines = [
    { sees: true, text: t('directory.sees.chats') },
    { sees: true, text: t('directory.sees.tool') },
    { sees: false, text: t('directory.sees.nothingElse') },
    ...(publisher ? [{ sees: false, text: t('directory.sees.publisher', { publisher }) }] : []),
  ]
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('directory.sees')}</h2>
      <ul className={cx(blocks.b, styles.sight)}>
        {lines.map(line => (
          <SightLine key={line.text} {...line} t={t} />
        ))}
      </ul>
    </section>
  )
}

function SightLine({ sees, text, t }: { sees: boolean; text: string; t: Texts['t'] }) {
  return (
    <li>
      {sees ? <Check className="i s ok" aria-hidden /> : <Minus className="i s faint" aria-hidden />}
      <span>
        <span className="sr">{t(sees ? 'directory.yes' : 'directory.no')} </span>
        {text}
      </span>
    </li>
  )
}

function Versions({ agent }: { agent: DirectoryDetailRow }) {
  const { t } = useTexts()
  return (
    <section>
      <h2 className={styles.caption}>{t('versions')}</h2>
      <ol className={cx(blocks.rows, styles.versions)}>
        {agent.versions.map(version => (
          <li key={version.number} value={version.number}>
            <b className="num">{version.number}</b>
            <span className="grow" lang={detectLanguage(version.message)}>
              {version.message || t(version.number === 1 ? 'firstVersion' : 'noMessage')}
            </span>
            <time className="faint xs nowrap" dateTime={version.created_at}>
              {formatShortDate(version.created_at)}
            </time>
          </li>
        ))}
      </ol>
    </section>
  )
}
