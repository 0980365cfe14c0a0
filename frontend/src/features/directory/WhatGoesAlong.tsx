import { ArchiveX, Check, Eye, House, Minus, PackageCheck, TriangleAlert } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import {
  type AgentRow,
  type PublicationCheckRow,
  type PublicationRow,
  type SecretWarningRow,
  useListingCheck,
} from '@/api'
import { ToolName } from '@/features/agents'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import styles from './Publish.module.css'

interface WhatGoesAlongProps {
  agent: AgentRow
  check: PublicationCheckRow
  /** The texts of the listing, as JSON. */
  listing: string
  /** Opens the workshop of the agent; null while it is in no chat. */
  onEdit: (() => void) | null
}

/** The reasons of what is no tool of its own. */
const NO_TOOLS: string[] = ['pages', 'sub_agent', 'member']

/** Which parts of the version are published, and which are not. */
export function WhatGoesAlong({ agent, check, listing, onEdit }: WhatGoesAlongProps) {
  const { t } = useTexts()
  const secrets = [...check.secrets, ...(useListingCheck(agent.actor.id, listing).data ?? [])]
  const tools = check.unpublished_tools.filter(tool => !NO_TOOLS.includes(tool.reason))
  const hasPages = check.unpublished_tools.some(tool => tool.reason === 'pages')
  const subAgents = check.unpublished_tools.filter(tool => tool.reason === 'sub_agent')
  const members = check.unpublished_tools.filter(tool => tool.reason === 'member')
  const toolsInPrompt = check.unpublished_tools.filter(tool => tool.lines.length > 0)
  const limits = [
    check.model || t('defaultModel'),
    t('nSteps', { count: check.max_steps }),
    t('publish.minutes', { count: Math.round(check.max_seconds / 60) }),
  ]
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('publish.along')}
        <span className="end faint xs only-wide">{t('publish.originalStays', { name: agent.actor.name })}</span>
      </h2>
      <div className={styles.along}>
        <div>
          <h3 className="muted sm row">
            <PackageCheck className="i s" aria-hidden />
            {t('publish.inCopy')}
          </h3>
          <ul>
            <Going name={t('prompt')}>
              {`v${check.version}, ${t('publish.lines', { count: check.prompt_lines })}`}
            </Going>
            <Going name={t('publish.modelAndLimits')}>{limits.join(' · ')}</Going>
            {check.tools.length > 0 ? (
              <Going name={t('nTools', { count: check.tools.length })}>
                <ToolNames tools={check.tools} />
              </Going>
            ) : null}
          </ul>
        </div>
        <div>
          <h3 className="muted sm row">
            <House className="i s" aria-hidden />
            {t('publish.staysHere')}
          </h3>
          <ul>
            {tools.length > 0 ? (
              <Staying name={t('nTools', { count: tools.length })}>
                <ToolNames tools={tools} />
              </Staying>
            ) : null}
            {subAgents.length > 0 ? (
              <Staying name={t('publish.subAgents', { names: formatList(subAgents.map(({ name }) => `@${name}`)) })}>
                {t('publish.subAgentsHint')}
              </Staying>
            ) : null}
            {members.length > 0 ? (
              <Staying name={t('publish.members', { names: formatList(members.map(({ name }) => `@${name}`)) })}>
                {t('publish.membersHint')}
              </Staying>
            ) : null}
            {hasPages ? <Staying name={t('publish.pages')}>{t('publish.pagesHint')}</Staying> : null}
            <Staying name={t('publish.keys')}>{t('publish.keysHint')}</Staying>
            <Staying name={t('publish.notes')}>
              {t(check.memory === 'agent' ? 'publish.notesHintAgent' : 'publish.notesHint')}
            </Staying>
            <Staying name={t('publish.memory')}>{t('publish.memoryHint')}</Staying>
            <Staying name={t('publish.history')}>{t('publish.historyHint')}</Staying>
          </ul>
        </div>
      </div>
      <div className={styles.warning}>
        <Eye className="i s" aria-hidden />
        <p className="muted">{t('publish.promptIsReadable')}</p>
      </div>
      <div role="status">
        {secrets.map(secret => (
          <SecretWarning key={`${secret.place} ${secret.name}`} secret={secret} />
        ))}
      </div>
      {toolsInPrompt.map((tool, at) => (
        <Warning
          key={tool.name}
          action={
            onEdit && at === 0 ? (
              <Button size="xs" onClick={onEdit}>
                {t('publish.editPrompt')}
              </Button>
            ) : null
          }
        >
          {t('publish.namesTool', {
            count: tool.lines.length,
            lines: formatList(tool.lines.slice(0, 8).map(String)),
            tool: tool.name,
          })}
        </Warning>
      ))}
      {check.model_may_be_missing ? <Warning>{t('publish.modelMissing', { model: check.model })}</Warning> : null}
    </section>
  )
}

function SecretWarning({ secret: { place, name, lines } }: { secret: SecretWarningRow }) {
  const { t, rich } = useTexts()
  const shown = formatList(lines.slice(0, 8).map(String))
  switch (place) {
    case 'prompt':
      return <Warning>{t('publish.secret.prompt', { count: lines.length, lines: shown })}</Warning>
    case 'team':
      return <Warning>{t('publish.secret.team')}</Warning>
    case 'tool':
      return (
        <Warning>
          {rich('publish.secret.tool', { tool: name }, tool => (
            <ToolName tool={tool} />
          ))}
        </Warning>
      )
    case 'example':
      return <Warning>{t('publish.secret.example', { count: lines.length, lines: shown })}</Warning>
    case 'description':
      return <Warning>{t('publish.secret.description')}</Warning>
    case 'message':
      return <Warning>{t('publish.secret.message')}</Warning>
  }
}

const Going = ({ name, children }: { name: string; children: ReactNode }) => (
  <li>
    <Check className="i s ok" aria-hidden />
    <span>
      <b>{name}</b> <span className="muted">{children}</span>
    </span>
  </li>
)

const Staying = ({ name, children }: { name: string; children: ReactNode }) => (
  <li>
    <Minus className="i s faint" aria-hidden />
    <span>
      <b>{name}</b> <span className="muted">{children}</span>
    </span>
  </li>
)

const Warning = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className={styles.warning}>
    <TriangleAlert className="i s" aria-hidden />
    <p>{children}</p>
    {action}
  </div>
)

/** Why the previous public copy was taken down, if there was one. */
export function LastTakedown({ takedowns }: Pick<PublicationRow, 'takedowns'>) {
  const { t } = useTexts()
  const [last] = takedowns
  if (!last) return null
  const by = last.by_operator ? 'publish.downByOperator' : 'publish.downByYou'
  return (
    <section className={blocks.sec}>
      <h2 className={cx(blocks.h, last.by_operator && 'no')}>
        <ArchiveX className="i s" aria-hidden />
        {t(by, { name: last.name })}
        <span className="end faint xs">{formatShortDate(last.taken_down_at)}</span>
      </h2>
      <div className={cx(blocks.b, 'sm')}>
        {last.reason ? (
          <p>
            <q lang={detectLanguage(last.reason)}>{last.reason}</q>
          </p>
        ) : null}
        <p className="muted">{t('publish.anewHint')}</p>
      </div>
    </section>
  )
}

/** The names of tools in a line. A public agent that is called as a tool has the name of the agent. */
const ToolNames = ({ tools }: { tools: readonly { name: string }[] }) =>
  tools.map((tool, index) => (
    <Fragment key={tool.name}>
      {index > 0 ? ' · ' : null}
      <ToolName tool={tool.name} />
    </Fragment>
  ))
