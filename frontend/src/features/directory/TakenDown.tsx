import { ArchiveX, Library } from 'lucide-react'
import type { TakenDownAgent, WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { directoryPath, publicAgentPath, publishPath } from '@/lib/paths'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import { EmptyState } from '@/ui/EmptyState'
import layout from '@/ui/layout.module.css'
import { Crumbs } from './Crumbs'

interface TakenDownProps {
  agent: TakenDownAgent
  workspace: WorkspaceRow
  workspaceHandles: ReadonlyMap<string, string>
  onGo(path: string): void
}

/** The page of a public agent that was taken down: why, and the way to its successor or, for its publisher, to publish it anew. */
export function TakenDown({ agent, workspace, workspaceHandles, onGo }: TakenDownProps) {
  const { t } = useTexts()
  const { originId, newHandle } = agent
  const originWorkspace = workspaceHandles.get(agent.originWorkspaceId ?? '')
  const by = agent.isByOperator ? 'takenDown.byOperator' : 'takenDown.byPublisher'
  return (
    <main className={layout.stage} tabIndex={-1}>
      <Crumbs workspace={workspace} onGo={onGo} name={agent.name} />
      <div className={cx(layout.page, layout.pad)}>
        <EmptyState
          icon={ArchiveX}
          title={t('takenDown.title', { name: agent.name })}
          actions={
            <>
              {newHandle ? (
                <Button tone="ink" onClick={() => onGo(publicAgentPath(workspace.handle, newHandle))}>
                  {t('takenDown.openNew', { name: agent.newName ?? newHandle })}
                </Button>
              ) : originId && originWorkspace ? (
                <Button tone="ink" onClick={() => onGo(publishPath(originWorkspace, originId))}>
                  {t('publish.anew')}
                </Button>
              ) : null}
              <Button onClick={() => onGo(directoryPath(workspace.handle))}>
                <Library className="i s" aria-hidden />
                {t('takenDown.findAnother')}
              </Button>
            </>
          }
        >
          {t(by, { date: formatShortDate(agent.takenDownAt) })}{' '}
          {agent.reason ? <q lang={detectLanguage(agent.reason)}>{agent.reason}</q> : null} {t('takenDown.chatsStay')}{' '}
          {newHandle ? t('takenDown.isPublicAgain') : null}
        </EmptyState>
      </div>
    </main>
  )
}
