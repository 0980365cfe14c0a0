import { useState } from 'react'
import { type MembershipRow, type Role, useMe, useMembers, useRemoveMember, useSetRole, type WorkspaceRow } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Face } from '@/ui/Face'
import { Skeleton } from '@/ui/Skeleton'
import { say } from '@/ui/Toasts'

/** Who is in the workspace, and as what. */
export function Members({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const members = useMembers(workspace.id)
  if (!members.data) return <Skeleton lines={4} label={t('loading')} />
  return (
    <>
      <ul className="rows">
        {members.data.map(member => (
          <Member key={member.id} member={member} workspace={workspace} />
        ))}
      </ul>
      <p className="hint">{t('roles.explained')}</p>
    </>
  )
}

function Member({ member, workspace }: { member: MembershipRow; workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const me = useMe().data
  const setRole = useSetRole(workspace.id)
  const { actor, role } = member
  const isMe = actor.id === me?.actor.id
  const change = (next: Role) =>
    setRole.mutate({ actorId: actor.id, role: next }, { onError: error => say(textOfError(error)) })
  return (
    <li>
      <Face id={actor.id} name={actor.name} square={false} size="m" />
      <span className="grow cut">
        {actor.name}{' '}
        {isMe ? <span className="faint">{t('youInBrackets')}</span> : <span className="faint">@{actor.handle}</span>}
      </span>
      {workspace.verbs.includes('change_role') ? (
        <select
          className="select"
          aria-label={t('roleOf', { name: actor.name })}
          value={role}
          onChange={event => change(event.target.value as Role)}
        >
          <option value="editor">{t('role.editor')}</option>
          <option value="suggester">{t('role.suggester')}</option>
        </select>
      ) : (
        <span className="badge">{t(`role.${role}`)}</span>
      )}
      {workspace.verbs.includes('remove_member') && !isMe ? <Remove member={member} workspace={workspace} /> : null}
    </li>
  )
}

/** Removing a person shows its effects first. */
function Remove({ member, workspace }: { member: MembershipRow; workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const remove = useRemoveMember(workspace.id)
  const { name } = member.actor
  const go = () =>
    remove.mutate(member.actor.id, {
      onSuccess: () => setOpen(false),
      onError: error => say(textOfError(error)),
    })
  return (
    <>
      <Button size="xs" tone="bad" onClick={() => setOpen(true)}>
        {t('removeDots')}
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('removeTitle', { name, workspace: workspace.name })}
        description={t('removeEffects', { name })}
      >
        <div className="row endrow">
          <Button onClick={() => setOpen(false)}>{t('cancel')}</Button>
          <Button tone="bad" busy={remove.isPending ? t('removing') : null} onClick={go}>
            {t('removePerson', { name })}
          </Button>
        </div>
      </Dialog>
    </>
  )
}
