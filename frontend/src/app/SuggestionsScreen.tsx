import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, useCallback } from 'react'
import { changedSearch, type SuggestionSearch, SuggestionsPage } from '@/features/suggestions'
import { useTexts } from '@/lib/language'
import layout from '@/ui/layout.module.css'
import { useActorLookup, useTitle } from './actorLookup'
import { useShell } from './ShellContext'

/** The suggestions; which of them are shown, and which one is open, is in the address. */
export function SuggestionsScreen() {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const params = useParams({ from: '/w/$workspace/suggestions' })
  const search: SuggestionSearch = useSearch({ from: '/w/$workspace/suggestions' })
  const navigate = useNavigate()
  const who = useActorLookup()
  useTitle(t('suggestions'))

  const onSearch = useCallback(
    (change: Parameters<typeof changedSearch>[1]) =>
      void navigate({ to: '/w/$workspace/suggestions', params, search: changedSearch(search, change) }),
    [navigate, params, search],
  )
  const goTo = (chat: string, shop?: string) =>
    void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat }, search: shop ? { shop } : {} })
  return (
    <Suspense fallback={<main className={layout.stage} />}>
      <SuggestionsPage
        workspace={workspace}
        me={me.actor}
        search={search}
        who={who}
        onSearch={onSearch}
        onOpenDraft={goTo}
        onChat={goTo}
      />
    </Suspense>
  )
}
