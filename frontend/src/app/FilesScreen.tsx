import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { FilesPage } from '@/features/files'
import { useTexts } from '@/lib/language'
import { LazyPage } from './LazyPage'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** The files of the workspace; the URL holds the one that is open. */
export function FilesScreen() {
  const { t } = useTexts()
  const { me, workspace, chats } = useShell()
  const params = useParams({ from: '/w/$workspace/files' })
  const { file } = useSearch({ from: '/w/$workspace/files' })
  const navigate = useNavigate()
  useTitle(t('files'))
  const titles = new Map(chats?.map(({ chat }) => [chat.id, chat.title]))
  return (
    <LazyPage>
      <FilesPage
        workspace={workspace}
        me={me.actor.id}
        open={file}
        onOpen={id => void navigate({ to: '/w/$workspace/files', params, search: id ? { file: id } : {} })}
        renderPlace={row =>
          row.chat_id ? (
            <Link className="link" to="/w/$workspace/c/$chat" params={{ ...params, chat: row.chat_id }} hash={row.id}>
              {t('files.inChat', { chat: titles.get(row.chat_id) || '…' })}
            </Link>
          ) : (
            t('files.wholeWorkspace')
          )
        }
      />
    </LazyPage>
  )
}
