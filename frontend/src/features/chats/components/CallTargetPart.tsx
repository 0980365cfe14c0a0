import { MessageSquareShare, Server } from 'lucide-react'
import type { CallTarget } from '@/api'
import { showHiddenCharacters } from '@/lib/hiddenCharacters'
import { useTexts } from '@/lib/language'
import { formatList } from '@/lib/names'
import styles from './ApprovalCard.module.css'

/** Names of readers that are shown; the others are counted. */
const MAX_SHOWN = 8

/** Where a call goes. These are facts of the server, and not what the model wrote into the arguments. */
export function CallTargetPart({ target }: { target: CallTarget }) {
  return target.type === 'server' ? <ServerPart target={target} /> : <ChatPart target={target} />
}

function ServerPart({ target }: { target: Extract<CallTarget, { type: 'server' }> }) {
  const { t } = useTexts()
  const request = [target.method, target.path].filter(Boolean).join(' ')
  return (
    <section className={styles.target} aria-label={t('approval.target')}>
      <Server className="i s" aria-hidden />
      <div>
        <b>{t('approval.toServer', { name: target.server })}</b> {target.host}
        {request ? <code>{showHiddenCharacters(request)}</code> : null}
        <span>{t(target.effect === 'write' ? 'approval.writes' : 'approval.reads')}</span>
      </div>
    </section>
  )
}

function ChatPart({ target }: { target: Extract<CallTarget, { type: 'chat' }> }) {
  const { t } = useTexts()
  const title = showHiddenCharacters(target.title)
  const newReaders = target.readers.filter(reader => reader.is_new)
  const listNames = (readers: typeof newReaders) => {
    const names = readers.slice(0, MAX_SHOWN).map(reader => showHiddenCharacters(reader.name))
    const more = readers.length - names.length
    return formatList(more > 0 ? [...names, t('approval.moreReaders', { count: more })] : names)
  }
  const name = target.is_hidden
    ? t('approval.toHiddenChat')
    : target.member
      ? t('approval.toMember', { name: showHiddenCharacters(target.member) })
      : title
        ? t('approval.toChat', { title })
        : t('approval.toUntitledChat')
  return (
    <section className={styles.target} aria-label={t('approval.target')}>
      <MessageSquareShare className="i s" aria-hidden />
      <div>
        <b>{name}</b> {t('approval.inWorkspace', { name: target.workspace_name })}
        {target.is_hidden ? null : <span>{t('approval.readBy', { names: listNames(target.readers) })}</span>}
        {newReaders.length > 0 ? (
          <strong>{t('approval.newReaders', { count: newReaders.length, names: listNames(newReaders) })}</strong>
        ) : null}
      </div>
    </section>
  )
}
