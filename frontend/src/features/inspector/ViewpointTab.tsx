import { Eye, Hash } from 'lucide-react'
import { type AgentRow, useSentRequest, useViewpoint, type ViewpointRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { chatPath, runPath } from '@/lib/paths'
import { formatCurrency, formatNumber, formatSeconds } from '@/lib/time'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { PathLink } from '@/ui/PathLink'
import styles from './Inspector.module.css'
import { RequestContent } from './RequestPanel'

interface ViewpointTabProps {
  agent: AgentRow
  /** The handle of the workspace. */
  workspace: string
  onGo(path: string): void
}

/** What an agent sees: its chats, what it has not read, and what was sent to its model last. For editors, who only read here. */
export function ViewpointTab({ agent, workspace, onGo }: ViewpointTabProps) {
  const { t, rich } = useTexts()
  const query = useViewpoint(agent.actor.id)
  const view = query.data
  if (!view)
    return (
      <div className={cx(layout.page, layout.pad)}>
        <Loading query={query} lines={6} />
      </div>
    )
  return (
    <div className={layout.page}>
      <p className={styles.eyes}>
        <Eye className="i s" aria-hidden />
        {t('eyes.banner', { name: agent.actor.name })}
      </p>
      <div className={styles.viewpoint}>
        <div className={styles.column}>
          <section className={blocks.sec}>
            <h2 className={blocks.h}>
              {t('eyes.chats')}
              <span className="faint xs regular">
                {t('eyes.unreadChats', { count: view.chats.filter(chat => chat.unread > 0).length })}
              </span>
            </h2>
            <Chats view={view} agent={agent} workspace={workspace} onGo={onGo} />
          </section>
          <section className={blocks.sec}>
            <h2 className={blocks.h}>{t('eyes.month')}</h2>
            <dl className={cx(styles.figures, styles.four)}>
              <div>
                <dt>{t('agentTab.runs')}</dt>
                <dd>{formatNumber(view.month.runs)}</dd>
              </div>
              <div>
                <dt>{t('eyes.failed')}</dt>
                <dd>{formatNumber(view.month.failed)}</dd>
              </div>
              <div>
                <dt>{t('eyes.typical')}</dt>
                <dd>
                  {view.month.typical_seconds === null
                    ? '–'
                    : t('inspector.seconds', { n: formatSeconds(view.month.typical_seconds) })}
                </dd>
              </div>
              <div>
                <dt>{t('inspector.cost')}</dt>
                <dd>{formatCurrency(view.month.cost_micro)}</dd>
              </div>
            </dl>
          </section>
        </div>
        <section className={blocks.sec}>
          <h2 className={blocks.h}>
            {t('eyes.lastSent')}
            {view.last_run_id ? (
              <PathLink className="link xs end" path={runPath(workspace, view.last_run_id)} onGo={onGo}>
                {t('eyes.openRun')}
              </PathLink>
            ) : null}
          </h2>
          {view.last_run_id && view.last_request_id ? (
            <LastRequest runId={view.last_run_id} requestId={view.last_request_id} />
          ) : (
            <p className={cx(blocks.b, 'faint sm')}>{rich('eyes.nothingSent', { name: agent.actor.name })}</p>
          )}
        </section>
      </div>
    </div>
  )
}

function Chats({ view, agent, workspace, onGo }: ViewpointTabProps & { view: ViewpointRow }) {
  const { t } = useTexts()
  return (
    <ul className={cx(blocks.rows, blocks.in)}>
      {view.chats.map(chat => (
        <li key={chat.chat_id}>
          <Hash className="i faint" aria-hidden />
          <PathLink className="grow cut" path={chatPath(workspace, chat.chat_id)} onGo={onGo}>
            {chat.title}
          </PathLink>
          {chat.is_working ? <span className="faint xs">{t('atWork')}</span> : null}
          {chat.unread ? (
            <span className={blocks.count}>
              {formatNumber(chat.unread)}
              <span className="sr"> {t('eyes.unread')}</span>
            </span>
          ) : (
            <span className="faint xs">{t('eyes.allRead')}</span>
          )}
          <span className="faint xs nowrap">{t(`response.${chat.response as 'mentions'}`)}</span>
          <span className={blocks.badge} data-layer={chat.draft_by ? 'applied' : 'production'}>
            <LayerIcon layer={chat.draft_by ? 'applied' : 'production'} />
            {chat.draft_by ?? `v${agent.spec.number}`}
          </span>
        </li>
      ))}
      {view.hidden_chats ? <li className="faint">{t('eyes.hidden', { count: view.hidden_chats })}</li> : null}
    </ul>
  )
}

function LastRequest({ runId, requestId }: { runId: string; requestId: string }) {
  const query = useSentRequest(runId, requestId)
  return query.data ? <RequestContent request={query.data} view="sent" /> : <Loading query={query} lines={6} />
}
