import { useParams, useRouter } from '@tanstack/react-router'
import { Suspense } from 'react'
import { BackButton } from '@/features/chats'
import { RunView } from '@/features/inspector'
import { useTexts } from '@/lib/language'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { useShell } from './ShellContext'
import { useTitle } from './unreadTitle'

/** One run, to which the answers in chats lead. */
export function RunScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { run } = useParams({ from: '/w/$workspace/runs/$run' })
  const { history } = useRouter()
  useTitle(t('inspector.inspect'))
  return (
    <main className={layout.stage}>
      <header className={layout.bar}>
        <BackButton label={t('chats')} onClick={() => history.back()} />
        <h1 className="cut">{t('inspector.inspect')}</h1>
      </header>
      <Suspense fallback={<Skeleton lines={8} label={t('loading')} />}>
        <RunView key={run} runId={run} workspace={workspace.handle} onGo={path => history.push(path)} />
      </Suspense>
    </main>
  )
}
