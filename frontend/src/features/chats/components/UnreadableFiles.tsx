import { TriangleAlert } from 'lucide-react'
import type { WakeEffect } from '@/api'
import { useTexts } from '@/lib/language'
import { useChat } from './ChatContext'
import composerStyles from './Composer.module.css'

/** What the woken agents cannot read of the files that are attached to the message; nothing if they read all. */
export function UnreadableFiles({ wakes, isQuiet }: { wakes: readonly WakeEffect[] | null; isQuiet: boolean }) {
  const { t } = useTexts()
  const { findActor, openWorkshop } = useChat()
  if (isQuiet) return null
  return wakes?.flatMap(({ agent_id: agentId, unreadable }) =>
    unreadable.map(what => (
      <div key={`${agentId} ${what}`} className={composerStyles.replying} role="status">
        <TriangleAlert className="i s" aria-hidden />
        <span>
          {t(what === 'files' ? 'unreadable.files' : 'unreadable.images', {
            name: findActor(agentId)?.name ?? t('agent'),
          })}{' '}
          <button type="button" className="link" onClick={() => openWorkshop(agentId)}>
            {t(what === 'files' ? 'unreadable.turnOn' : 'unreadable.chooseModel')}
          </button>
        </span>
      </div>
    )),
  )
}
