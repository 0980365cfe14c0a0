import type { LockedDraftRow } from '@/api'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { type TextKeyWith, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import layout from '@/ui/layout.module.css'

type ValueName = 'name' | 'chat'
type EditingKey = Extract<TextKeyWith<ValueName>, `editing.${string}`>

/** Returns the key and values of a text that says who edits a draft and in which chat, if the reader may know it. */
function describeEditing(draft: LockedDraftRow, me: string): { key: EditingKey; values: Record<ValueName, string> } {
  const isMine = draft.lock_holder.id === me
  const values = { name: draft.lock_holder.name, chat: draft.chat_title ?? '' }
  if (draft.chat_id === null) return { key: isMine ? 'editing.youElsewhere' : 'editing.elsewhere', values }
  return { key: isMine ? 'editing.youIn' : 'editing.in', values }
}

interface EditedDraftsProps {
  drafts: readonly LockedDraftRow[]
  me: string
  onGo(chatId: string): void
}

/** The drafts of an agent that are being edited, each with a link to its chat. */
export function EditedDrafts({ drafts, me, onGo }: EditedDraftsProps) {
  const { t, rich } = useTexts()
  return drafts.map(draft => {
    const { key, values } = describeEditing(draft, me)
    const { lock_holder: holder, chat_id: chatId } = draft
    return (
      <div key={draft.draft_id} className={blocks.banner} data-layer="writing">
        <Avatar id={holder.id} name={holder.name} avatar={holder.avatar} square={holder.kind === 'agent'} />
        <span className="grow">{rich(key, values)}</span>
        {chatId ? (
          <Button size="xs" onClick={() => onGo(chatId)}>
            {t('goThere')}
          </Button>
        ) : null}
      </div>
    )
  })
}

/** The badge of an agent in the sidebar while its draft is edited in another chat than the open one. */
export function EditingBadge({ draft, me, isShort }: { draft: LockedDraftRow; me: string; isShort: boolean }) {
  const { t } = useTexts()
  const { key, values } = describeEditing(draft, me)
  const text = t(key, values)
  return (
    <span className={cx(layout.note, 'row')} title={text}>
      {isShort ? null : <span aria-hidden>{draft.lock_holder.id === me ? t('you') : draft.lock_holder.name}</span>}
      <LayerIcon layer="writing" />
      <span className="sr">{text}</span>
    </span>
  )
}
