import { Check, Copy, Link2 } from 'lucide-react'
import { useState } from 'react'
import { type LinkRow, type Role, useLinks, useMakeLink, useRevokeLink } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { isAhead, shortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import { copyText } from '@/ui/copy'
import { say } from '@/ui/Toasts'

const hours = ['24', '168', '720'] as const
const isAlive = (link: LinkRow) => !link.revoked_at && isAhead(link.expires_at)

/** Links that bring people into the workspace and this chat, in the role that the editor chooses. */
export function Links({ chatId }: { chatId: string }) {
  const { t } = useTexts()
  const links = useLinks(chatId)
  const alive = (links.data ?? []).filter(isAlive)
  return (
    <section className="field links">
      <span className="label">{t('inviteLink')}</span>
      <MakeLink chatId={chatId} />
      {alive.length > 0 ? (
        <ul className="rows">
          {alive.map(link => (
            <LinkLine key={link.id} link={link} chatId={chatId} />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function MakeLink({ chatId }: { chatId: string }) {
  const { t } = useTexts()
  const [role, setRole] = useState<Role>('suggester')
  const [expires, setExpires] = useState<(typeof hours)[number]>('168')
  const make = useMakeLink(chatId)
  return (
    <>
      <div className="row wrap">
        <select
          className="select"
          aria-label={t('role')}
          value={role}
          onChange={event => setRole(event.target.value as Role)}
        >
          <option value="suggester">{t('joinsAs', { role: t('role.suggester') })}</option>
          <option value="editor">{t('joinsAs', { role: t('role.editor') })}</option>
        </select>
        <select
          className="select"
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
        <Button
          tone="ink"
          busy={make.isPending ? t('makingLink') : null}
          onClick={() => make.mutate({ role, expires_in_hours: Number(expires) })}
        >
          <Link2 className="i s" aria-hidden />
          {t('makeLink')}
        </Button>
      </div>
      <span className="hint">{t(`role.${role}.hint`)}</span>
      {make.error ? (
        <span className="err" role="alert">
          {textOfError(make.error)}
        </span>
      ) : null}
      {make.data?.url ? <NewLink url={make.data.url} /> : null}
    </>
  )
}

/** The address is shown this once: only its hash is stored. */
function NewLink({ url }: { url: string }) {
  const { t } = useTexts()
  const [copied, setCopied] = useState(false)
  const address = new URL(url, location.origin).href
  return (
    <>
      <div className="row">
        <input
          className="input mono"
          readOnly
          aria-label={t('inviteLink')}
          value={address}
          onFocus={event => event.target.select()}
        />
        <Button onClick={async () => setCopied(await copyText(address))}>
          {copied ? <Check className="i s" aria-hidden /> : <Copy className="i s" aria-hidden />}
          {copied ? t('copied') : t('copy')}
        </Button>
      </div>
      <span className="hint">{t('linkOnce')}</span>
    </>
  )
}

function LinkLine({ link, chatId }: { link: LinkRow; chatId: string }) {
  const { t } = useTexts()
  const revoke = useRevokeLink(chatId)
  return (
    <li>
      <Link2 className="i" aria-hidden />
      <span className="grow cut">
        {t(`role.${link.role}`)}{' '}
        <span className="faint">
          · {t('linkLine', { date: shortDate(link.expires_at), uses: t('nUses', { count: link.uses }) })}
        </span>
      </span>
      <Button
        size="xs"
        tone="bad"
        busy={revoke.isPending ? t('revoking') : null}
        onClick={() => revoke.mutate(link.id, { onError: error => say(textOfError(error)) })}
      >
        {t('revoke')}
      </Button>
    </li>
  )
}
