import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { type LinkRow, type Role, useCreateLink, useLinks, useRevokeLink } from '@/api'
import { cx } from '@/lib/cx'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatShortDate, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { CopyField } from '@/ui/CopyField'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { showToast } from '@/ui/toast'
import styles from './Links.module.css'

const hours = ['24', '168', '720'] as const
const most = ['1', '5', '25', ''] as const
/** A link for editors is for one person, unless its maker says otherwise. */
const usual = { editor: '1', suggester: '' } as const
export const isAlive = (link: LinkRow) =>
  !link.revoked_at && isFuture(link.expires_at) && (link.max_uses === null || link.uses < link.max_uses)

interface LinksProps {
  chatId: string
  /** Whether the reader may invite editors, too. */
  canInviteEditors: boolean
}

/** Links that bring people into the workspace and this chat, in the role that their maker chooses. */
export function Links({ chatId, canInviteEditors }: LinksProps) {
  const { t } = useTexts()
  const links = useLinks(chatId)
  const alive = (links.data ?? []).filter(isAlive)
  return (
    <section className={cx(fieldStyles.field, styles.links)}>
      <span className={fieldStyles.label}>{t('inviteLink')}</span>
      <MakeLink chatId={chatId} canInviteEditors={canInviteEditors} />
      {links.error ? <Loading query={links} /> : null}
      {alive.length > 0 ? (
        <ul className={blocks.rows}>
          {alive.map(link => (
            <LinkLine
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

function MakeLink({ chatId, canInviteEditors }: LinksProps) {
  const { t } = useTexts()
  const [role, setRole] = useState<Role>('suggester')
  const [expires, setExpires] = useState<(typeof hours)[number]>('168')
  const [uses, setUses] = useState<(typeof most)[number] | null>(null)
  const make = useCreateLink(chatId)
  const limit = uses ?? usual[role]
  return (
    <>
      <div className="row wrap">
        <select
          className={fieldStyles.select}
          aria-label={t('role')}
          value={role}
          onChange={event => setRole(event.target.value as Role)}
        >
          <option value="suggester">{t('joinsAs', { role: t('role.suggester') })}</option>
          {canInviteEditors ? <option value="editor">{t('joinsAs', { role: t('role.editor') })}</option> : null}
        </select>
        <select
          className={fieldStyles.select}
          aria-label={t('expires')}
          value={expires}
          onChange={event => setExpires(event.target.value as '24')}
        >
          {hours.map(value => (
            <option key={value} value={value}>
              {t('forDays', { count: Number(value) / 24 })}
            </option>
          ))}
        </select>
        <select
          className={fieldStyles.select}
          aria-label={t('maxUses')}
          value={limit}
          onChange={event => setUses(event.target.value as '1')}
        >
          {most.map(value => (
            <option key={value} value={value}>
              {value ? t('forPeople', { count: Number(value) }) : t('forAnyNumber')}
            </option>
          ))}
        </select>
        <Button
          tone="ink"
          busy={make.isPending ? t('makingLink') : null}
          onClick={() =>
            make.mutate({ role, expires_in_hours: Number(expires), max_uses: limit ? Number(limit) : null })
          }
        >
          <Link2 className="i s" aria-hidden />
          {t('makeLink')}
        </Button>
      </div>
      <span className="hint">{t(`role.${role}.hint`)}</span>
      {make.error ? (
        <span className={fieldStyles.err} role="alert">
          {textOfError(make.error)}
        </span>
      ) : null}
      {make.data?.url ? <NewLink key={make.data.url} url={make.data.url} /> : null}
    </>
  )
}

/** The address is shown this once: only its hash is stored. */
function NewLink({ url }: { url: string }) {
  const { t } = useTexts()
  return (
    <>
      <CopyField label={t('inviteLink')} text={new URL(url, location.origin).href} />
      <span className="hint">{t('linkOnce')}</span>
    </>
  )
}

/** What a link gives, until when, and how often it was used. */
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

function LinkLine({ link, chatId, canRevoke }: { link: LinkRow; chatId: string; canRevoke: boolean }) {
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
          onClick={() => revoke.mutate(link.id, { onError: error => showToast(textOfError(error)) })}
        >
          {t('revoke')}
        </Button>
      ) : null}
    </li>
  )
}
