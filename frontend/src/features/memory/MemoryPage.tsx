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
  const { memory_scope: scope } = memory.data
  return (
    <div className={layout.page}>
      <div className={`${layout.pad} ${styles.page}`}>
        <Notes {...props} memory={memory.data} />
        <div className={styles.side}>
          <section className={blocks.sec}>
            <h2 className={blocks.h}>{t('memory.scope')}</h2>
            <div className={`${blocks.b} col sm`}>
              <span>{t(`memory.scope.${scope}`)}</span>
              <span className="hint">{t(`memory.scopeHint.${scope}`)}</span>
              {props.onEdit ? (
                <div className="row">
                  <Button size="xs" onClick={props.onEdit}>
                    {t('memory.changeScope')}
                  </Button>
                </div>
              ) : null}
            </div>
          </section>
          <History {...props} memory={memory.data} />
          {memory.data.withheld.length > 0 ? <Withheld uses={memory.data.withheld} /> : null}
        </div>
      </div>
    </div>
  )
}

/**
 * How many notes and history entries recent runs did not use: a person in the chat of the run may not read the chat
 * from which they are.
 */
function Withheld({ uses }: { uses: MemoryRow['withheld'] }) {
  const { t } = useTexts()
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('memory.withheld')}</h2>
      <ul className={`${blocks.b} col sm`}>
        {uses.flatMap(use =>
          use.withheld.map(withheld => {
            const what = formatList([
              ...(withheld.notes ? [t('memory.withheldNotes', { count: withheld.notes })] : []),
              ...(withheld.entries ? [t('memory.withheldEntries', { count: withheld.entries })] : []),
            ])
            return (
              <li key={`${use.run_id}${withheld.chat_id}`}>
                {withheld.chat_id
                  ? t('memory.withheldIn', {
                      chat: use.chat_title,
                      what,
                      from: withheld.chat_title,
                      people: formatList(withheld.people.map(person => person.name)) || t('memory.someone'),
                    })
                  : t('memory.withheldHidden', { chat: use.chat_title, what })}
              </li>
            )
          }),
        )}
      </ul>
    </section>
  )
}
