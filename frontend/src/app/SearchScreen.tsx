import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { Suspense, useMemo } from 'react'
import { type FoundMessage, useAgents, useMembers } from '@/api'
import { changeSearch, SearchPage } from '@/features/search'
import { useTexts } from '@/lib/language'
import { foundMessagePath } from '@/lib/paths'
import layout from '@/ui/layout.module.css'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** The search of messages. The URL holds the words, the filters and the open hit. */
export function SearchScreen() {
  const { t } = useTexts()
  const { me, workspace, chats } = useShell()
  const params = useParams({ from: '/w/$workspace/search' })
  const search = useSearch({ from: '/w/$workspace/search' })
  const navigate = useNavigate()
  const { history } = useRouter()
  const people = useMembers(workspace.id).data
  const agents = useAgents(workspace.id).data
  const actors = useMemo(() => [...(people ?? []), ...(agents ?? [])].map(row => row.actor), [people, agents])
  useTitle(t('search.title'))
  return (
    <Suspense fallback={<main className={layout.stage} />}>
      <SearchPage
        workspace={workspace}
        me={me.actor.id}
        search={search}
        chats={chats ?? []}
        actors={actors}
        onSearch={change =>
          void navigate({
            to: '/w/$workspace/search',
            params,
            search: changeSearch(search, change),
            // The way back from an open hit is the list; words and filters are no steps of it.
            replace: !change.m,
          })
        }
        getPath={({ chat_id, message_id }: FoundMessage) =>
          foundMessagePath(workspace.handle, chat_id, message_id, search.q ?? '')
        }
        onGo={path => history.push(path)}
      />
    </Suspense>
  )
}
