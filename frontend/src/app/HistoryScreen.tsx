import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, useEffect } from 'react'
import { useAgents } from '@/api'
import { HistoryPage, type HistorySearch, type Pair } from '@/features/agents'
import { useTexts } from '@/lib/language'
import { Missing } from './Lost'
import { useWho } from './names'
import { useShell } from './ShellContext'

/** The versions of an agent; which two are compared is in the address. */
export function HistoryScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const params = useParams({ from: '/w/$workspace/agents/$agent/history' })
  const search: HistorySearch = useSearch({ from: '/w/$workspace/agents/$agent/history' })
  const agents = useAgents(workspace.id).data
  const agent = agents?.find(each => each.actor.id === params.agent)
  const who = useWho()
  const navigate = useNavigate()
  const title = agent ? `${t('versionsOf', { name: agent.actor.name })} · Atelier` : 'Atelier'
  useEffect(() => {
    document.title = title
  }, [title])
  if (!agents) return <main className="stage" />
  if (!agent) return <Missing />

  const chat = search.chat ? { chat: search.chat } : {}
  const pick = (pair: Pair | null) =>
    void navigate({ to: '/w/$workspace/agents/$agent/history', params, search: { ...pair, ...chat } })
  const back = () =>
    void (search.chat
      ? navigate({
          to: '/w/$workspace/c/$chat',
          params: { ...params, chat: search.chat },
          search: { shop: params.agent },
        })
      : navigate({ to: '/w/$workspace/agents/$agent', params }))
  return (
    <Suspense fallback={<main className="stage" />}>
      <HistoryPage
        key={params.agent}
        agent={agent}
        search={search}
        who={who}
        onBack={back}
        onPick={pick}
        replyLink={(row, children) => (
          <Link
            className="link"
            to="/w/$workspace/c/$chat"
            params={{ ...params, chat: row.chat_id }}
            {...(row.message_id ? { hash: row.message_id } : {})}
          >
            {children}
          </Link>
        )}
      />
    </Suspense>
  )
}
