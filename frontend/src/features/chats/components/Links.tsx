import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { type LinkRow, type Role, useCreateLink, useLinks, useRevokeLink } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatShortDate, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { CopyField } from '@/ui/CopyField'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import styles from './Links.module.css'

const lifetimeHours = ['24', '168', '720'] as const
const numbersOfUses = ['1', '5', '25', ''] as const
/** Default limits of uses: a link for editors admits one person. */
const defaultUseLimits = { editor: '1', suggester: '' } as const
export const isActiveLink = (link: LinkRow) =>
  !link.revoked_at && isFuture(link.expires_at) && (link.max_uses === null || link.uses < link.max_uses)

interface LinksProps {
  chatId: string
  /** Whether the reader may invite editors, too. */
  canInviteEditors: boolean
}

/** The invite links of a chat, by which people join the workspace and the chat in a role. */
export function Links({ chatId, canInviteEditors }: LinksProps) {
  const { t } = useTexts()
  const links = useLinks(chatId)
  const activeLinks = (links.data ?? []).filter(isActiveLink)
  return (
    <section className={cx(fieldStyles.field, styles.links)}>
      <span className={fieldStyles.label}>{t('inviteLink')}</span>
      <CreateLink chatId={chatId} canInviteEditors={canInviteEditors} />
      {links.error ? <Loading query={links} /> : null}
      {activeLinks.length > 0 ? (
        <ul className={blocks.rows}>
          {activeLinks.map(link => (
            <LinkItem
              key={link.id}
              link={link}
              chatId={chatId}
              canRevoke={canInviteEditors || link.role === 'suggester'}
            />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function CreateLink({ chatId, canInviteEditors }: LinksProps) {
  const { t } = useTexts()
  const [role, setRole] = useState<Role>('suggester')
  const [expires, setExpires] = useState<(typeof lifetimeHours)[number]>('168')
  const [uses, setUses] = useState<(typeof numbersOfUses)[number] | null>(null)
  const create = useCreateLink(chatId)
  const limit = uses ?? defaultUseLimits[role]
  return (
    <>
      <div className="row wrap">
        <select
          className={fieldStyles.select}
          aria-label={t('role')}
          value={role}
          onChange={event => setRole(event.target.value as Role)}
        >
          <option value="suggester">{t('joinsAs.suggester')}</option>
          {canInviteEditors ? <option value="editor">{t('joinsAs.editor')}</option> : null}
        </select>
        <select
          className={fieldStyles.select}
          aria-label={t('expires')}
          value={expires}
          onChange={event => setExpires(event.target.value as (typeof lifetimeHours)[number])}
        >
          {lifetimeHours.map(value => (
            <option key={value} value={value}>
              {t('forDays', { count: Number(value) / 24 })}
            </option>
          ))}
        </select>
        <select
          className={fieldStyles.select}
          aria-label={t('maxUses')}
          value={limit}
          onChange={event => setUses(event.target.value as (typeof numbersOfUses)[number])}
        >
          {numbersOfUses.map(value => (
            <option key={value} value={value}>
              {value ? t('forPeople', { count: Number(value) }) : t('forAnyNumber')}
            </option>
          ))}
        </select>
        <Button
          tone="ink"
          busy={create.isPending ? t('makingLink') : null}
          onClick={() =>
            create.mutate({ role, expires_in_hours: Number(expires), max_uses: limit ? Number(limit) : null })
          }
        >
          <Link2 className="i s" aria-hidden />
          {t('makeLink')}
        </Button>
      </div>
      <span className="hint">{t(`role.${role}.hint`)}</span>
      {create.error ? (
        <span className={fieldStyles.err} role="alert">
          {getErrorText(create.error)}
        </span>
      ) : null}
      {create.data?.url ? <NewLink key={create.data.url} url={create.data.url} /> : null}
    </>
  )
}

/** A new link. Its URL is shown once, because the server stores only a hash. */
function NewLink({ url }: { url: string }) {
  const { t } = useTexts()
  return (
    <>
      <CopyField label={t('inviteLink')} text={new URL(url, location.origin).href} />
      <span className="hint">{t('linkOnce')}</span>
    </>
  )
}

/** The role, expiry and number of uses of a link. */
export function LinkText({ link }: { link: LinkRow }) {
  const { t } = useTexts()
  const uses =
    link.max_uses === null ? t('nUses', { count: link.uses }) : t('nUsesOf', { count: link.uses, max: link.max_uses })
  return (
    <>
      <Link2 className="i" aria-hidden />
      <span className="grow cut">
        {t(`role.${link.role}`)}{' '}
        <span className="faint">· {t('linkLine', { date: formatShortDate(link.expires_at), uses })}</span>
      </span>
    </>
  )
}

function LinkItem({ link, chatId, canRevoke }: { link: LinkRow; chatId: string; canRevoke: boolean }) {
  const { t } = useTexts()
  const revoke = useRevokeLink(chatId)
  return (
    <li>
      <LinkText link={link} />
      {canRevoke ? (
        <Button
          size="xs"
          tone="bad"
          busy={revoke.isPending ? t('revoking') : null}
          onClick={() => revoke.mutate(link.id, { onError: error => showToast(getErrorText(error)) })}
        >
          {t('revoke')}
        </Button>
      ) : null}
    </li>
  )
}
