import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { changeSearch, type SuggestionSearch, SuggestionsPage } from '@/features/suggestions'
import { useTexts } from '@/lib/language'
import { useActorLookup } from './actorLookup'
import { LazyPage } from './LazyPage'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** The suggestions of a workspace. The URL holds the filter and the open suggestion. */
export function SuggestionsScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const params = useParams({ from: '/w/$workspace/suggestions' })
  const search: SuggestionSearch = useSearch({ from: '/w/$workspace/suggestions' })
  const navigate = useNavigate()
  const findActor = useActorLookup()
  useTitle(t('suggestions'))

  const onSearch = useCallback(
    (change: Parameters<typeof changeSearch>[1]) =>
      void navigate({ to: '/w/$workspace/suggestions', params, search: changeSearch(search, change) }),
    [navigate, params, search],
  )
  /** Opens a chat and, if an agent is named, its workshop. */
  const goToChat = (chat: string, workshopAgentId?: string) =>
    void navigate({
      to: '/w/$workspace/c/$chat',
      params: { ...params, chat },
      search: workshopAgentId ? { workshop: workshopAgentId } : {},
    })
  return (
    <LazyPage>
      <SuggestionsPage
        workspace={workspace}
        me={me.actor}
        search={search}
        findActor={findActor}
        onSearch={onSearch}
        onOpenDraft={goToChat}
        onChat={goToChat}
      />
    </LazyPage>
  )
}
