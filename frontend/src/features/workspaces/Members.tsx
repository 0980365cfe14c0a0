import { Link2 } from 'lucide-react'
import { useState } from 'react'
import {
  type MembershipRow,
  type Role,
  useMe,
  useMemberLinks,
  useMembers,
  useRemoveMember,
  useSetRole,
  type WorkspaceRow,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatShortDate } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'

/** The members of the workspace and their roles. */
export function Members({ workspace, onLeave }: { workspace: WorkspaceRow; onLeave(): void }) {
  const { t } = useTexts()
  const members = useMembers(workspace.id)
  const [query, setQuery] = useState('')
  if (!members.data) return <Loading query={members} />
  const found = members.data.filter(member => matchesQuery(member, query))
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>
        {t('settings.members')} <span className="faint num regular">{members.data.length}</span>
        {members.data.length > MAX_WITHOUT_SEARCH ? (
          <SearchInput className="end" label={t('findMember')} value={query} onChange={setQuery} />
        ) : null}
      </h2>
      <ul className={cx(blocks.rows, blocks.in)}>
        {found.map(member => (
          <Member key={member.id} member={member} workspace={workspace} onLeave={onLeave} />
        ))}
      </ul>
      {found.length === 0 ? (
        <p className={cx(blocks.b, 'faint sm')} role="status">
          {t('noMatchingPeople')}
        </p>
      ) : null}
      <p className={cx(blocks.b, 'hint')}>{t('roles.explained')}</p>
    </section>
  )
}

/** The search field appears above this number of members. */
const MAX_WITHOUT_SEARCH = 5

/** Returns whether the name or the handle of a member contains the query. */
function matchesQuery({ actor }: MembershipRow, query: string): boolean {
  const needle = query.trim().toLowerCase().replace(/^@/, '')
  return [actor.name, actor.handle].some(text => text.toLowerCase().includes(needle))
}

interface MemberProps {
  member: MembershipRow
  workspace: WorkspaceRow
  onLeave(): void
}

function Member({ member, workspace, onLeave }: MemberProps) {
  const { t } = useTexts()
  const me = useMe().data
  const setRole = useSetRole(workspace.id)
  const [isDemoting, setDemoting] = useState(false)
  const { actor, role } = member
  const isMe = actor.id === me?.actor.id
  const saveRole = (next: Role) =>
    setRole.mutate({ actorId: actor.id, role: next }, { onError: error => showToast(getErrorText(error)) })
  const handleChange = (next: Role) => (next === 'suggester' ? setDemoting(true) : saveRole(next))
  return (
    <li>
      <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square={false} size="m" />
      <span className="grow cut">
        {actor.name} <span className="faint">{isMe ? t('youInBrackets') : `@${actor.handle}`}</span>
      </span>
      {workspace.verbs.includes('change_role') && !isMe ? (
        <select
          className={fieldStyles.select}
          aria-label={t('roleOf', { name: actor.name })}
          value={role}
          onChange={event => handleChange(event.target.value as Role)}
        >
          <option value="editor">{t('role.editor')}</option>
          <option value="suggester">{t('role.suggester')}</option>
        </select>
      ) : (
        <span className={fieldStyles.role}>{t(`role.${role}`)}</span>
      )}
      <ConfirmDialog
        open={isDemoting}
        onOpenChange={setDemoting}
        title={t('demoteTitle', { name: actor.name })}
        description={t('role.suggester.hint')}
        action={t('demote')}
        onConfirm={() => {
          setDemoting(false)
          saveRole('suggester')
        }}
      >
        <RevokedLinks member={member} />
      </ConfirmDialog>
      {isMe ? (
        <Button size="xs" tone="flat" onClick={onLeave}>
          {t('leaveDots')}
        </Button>
      ) : null}
      {workspace.verbs.includes('remove_member') && !isMe ? (
        <RemoveButton member={member} workspace={workspace} />
      ) : null}
    </li>
  )
}

/** The invite links that end when a member is removed or demoted, for the dialog that confirms it. */
function RevokedLinks({ member }: { member: MembershipRow }) {
  const { t } = useTexts()
  const links = useMemberLinks(member.workspace_id, member.actor.id, true).data ?? []
  if (links.length === 0) return null
  return (
    <div className={fieldStyles.field}>
      <span className={fieldStyles.label}>{t('revokedLinks', { count: links.length, name: member.actor.name })}</span>
      <ul className={blocks.rows}>
        {links.map(link => (
          <li key={link.id}>
            <Link2 className="i" aria-hidden />
            <span className="grow cut">
              {t(`role.${link.role}`)}{' '}
              <span className="faint">
                · {t('linkLine', { date: formatShortDate(link.expires_at), uses: t('nUses', { count: link.uses }) })}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The button that removes a member after a dialog has shown the effects. */
function RemoveButton({ member, workspace }: { member: MembershipRow; workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const remove = useRemoveMember(workspace.id)
  const { name } = member.actor
  const handleRemove = () =>
    remove.mutate(member.actor.id, {
      onSuccess: () => setOpen(false),
      onError: error => showToast(getErrorText(error)),
    })
  return (
    <>
      <Button size="xs" tone="bad" onClick={() => setOpen(true)}>
        {t('removeDots')}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('removeTitle', { name, workspace: workspace.name })}
        description={t('removeEffects', { name })}
        action={t('removePerson', { name })}
        busy={remove.isPending ? t('removing') : null}
        onConfirm={handleRemove}
      >
        <RevokedLinks member={member} />
      </ConfirmDialog>
    </>
  )
}
