import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { usePublicAgent } from '@/api'
import { DirectoryPage, PublicAgentPage, parseDirectorySearch } from '@/features/directory'
import { useTexts } from '@/lib/language'
import { LazyPage } from './LazyPage'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** The directory of public agents; the URL holds the query and the filters. */
export function DirectoryScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const search = useSearch({ from: '/w/$workspace/directory' })
  const params = useParams({ from: '/w/$workspace/directory' })
  const navigate = useNavigate()
  const { history } = useRouter()
  useTitle(t('directory'))
  return (
    <LazyPage>
      <DirectoryPage
        workspace={workspace}
        search={search}
        onSearch={change =>
          void navigate({
            to: '/w/$workspace/directory',
            params,
            search: before => parseDirectorySearch({ ...before, ...change }),
            replace: true,
          })
        }
        onGo={path => history.push(path)}
      />
    </LazyPage>
  )
}

/** A public agent in the directory; the URL holds its handle or its id. */
export function PublicAgentScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const { agent: handle } = useParams({ from: '/w/$workspace/directory/$agent' })
  const { history } = useRouter()
  const agent = usePublicAgent(handle)
  useTitle(agent.data?.actor.name ?? t('directory'))
  return (
    <LazyPage>
      <PublicAgentPage
        key={handle}
        workspace={workspace}
        workspaceHandles={new Map(me.workspaces.map(row => [row.id, row.handle]))}
        handle={handle}
        onGo={path => history.push(path)}
      />
    </LazyPage>
  )
}
