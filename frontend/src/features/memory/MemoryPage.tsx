import { type AgentRow, type MemoryRow, useMemory } from '@/api'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { History } from './History'
import styles from './Memory.module.css'
import { Notes } from './Notes'

export interface MemoryPageProps {
  agent: AgentRow
  workspaceId: string
  /** The chats of the agent that the reader may read. */
  chats: readonly { id: string; title: string }[]
  /** Opens a chat, at a message if one is given. */
  onOpenChat(chatId: string, messageId?: string): void
  /** Opens the workshop; null while the agent is in no chat. */
  onEdit: (() => void) | null
}

/** What an agent remembers: its notes, its history over its chats, and what was withheld. */
export function MemoryPage(props: MemoryPageProps) {
  const { t } = useTexts()
  const memory = useMemory(props.workspaceId, props.agent.actor.id)
  if (!memory.data) return <Loading query={memory} lines={6} />
  const { reach } = memory.data
  return (
    <div className={layout.page}>
      <div className={`${layout.pad} ${styles.page}`}>
        <Notes {...props} memory={memory.data} />
        <div className={styles.side}>
          <section className={blocks.sec}>
            <h2 className={blocks.h}>{t('memory.reach')}</h2>
            <div className={`${blocks.b} col sm`}>
              <span>{t(`memory.reach.${reach}`)}</span>
              <span className="hint">{t(`memory.reachHint.${reach}`)}</span>
              {props.onEdit ? (
                <div className="row">
                  <Button size="xs" onClick={props.onEdit}>
                    {t('memory.changeReach')}
                  </Button>
                </div>
              ) : null}
            </div>
          </section>
          <History {...props} memory={memory.data} />
          {memory.data.kept_back.length > 0 ? <KeptBack uses={memory.data.kept_back} /> : null}
        </div>
      </div>
    </div>
  )
}

/** For whose sake notes and history were not used. */
function KeptBack({ uses }: { uses: MemoryRow['kept_back'] }) {
  const { t } = useTexts()
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('memory.keptBack')}</h2>
      <ul className={`${blocks.b} col sm`}>
        {uses.flatMap(use =>
          use.kept_back.map(kept => {
            const what = formatList([
              ...(kept.notes ? [t('memory.keptNotes', { count: kept.notes })] : []),
              ...(kept.entries ? [t('memory.keptEntries', { count: kept.entries })] : []),
            ])
            return (
              <li key={`${use.run_id}${kept.chat_id}`}>
                {kept.chat_id
                  ? t('memory.keptIn', {
                      chat: use.chat_title,
                      what,
                      from: kept.chat_title,
                      people: formatList(kept.people.map(person => person.name)) || t('memory.someone'),
                    })
                  : t('memory.keptHidden', { chat: use.chat_title, what })}
              </li>
            )
          }),
        )}
      </ul>
    </section>
  )
}
