import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { ApiTokenRow } from '@/api'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { formatShortDate, isFuture } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { CopyField } from '@/ui/CopyField'

interface TokenListProps {
  tokens: readonly ApiTokenRow[]
  /** Describes what a token may do. */
  describeScope(scope: ApiTokenRow['scope']): string
  isRevoking: boolean
  onRevoke(token: ApiTokenRow): void
}

/** The API tokens of a person or an agent. */
export function TokenList({ tokens, describeScope, isRevoking, onRevoke }: TokenListProps) {
  const { t } = useTexts()
  const describeUse = ({ expires_at, last_used_at }: ApiTokenRow) => {
    const hasExpired = expires_at !== null && !isFuture(expires_at)
    const until = expires_at ? t('tokenUntil', { date: formatShortDate(expires_at) }) : t('tokenForever')
    const used = last_used_at ? t('tokenUsed', { date: formatShortDate(last_used_at) }) : t('tokenUnused')
    return `${hasExpired ? t('tokenExpired') : until} · ${used}`
  }
  return (
    <ul className={blocks.rows}>
      {tokens.map(token => (
        <li key={token.id} className={blocks.token}>
          <KeyRound className="i" aria-hidden />
          <span className="grow">
            <span className="cut">{token.name}</span>
            <span className="faint sm">
              <code>{token.prefix}…</code> · {describeScope(token.scope)} · {describeUse(token)}
            </span>
          </span>
          <RevokeButton name={token.name} isRevoking={isRevoking} onRevoke={() => onRevoke(token)} />
        </li>
      ))}
    </ul>
  )
}

/** The button that revokes a token after a dialog has shown the effects. */
function RevokeButton({ name, isRevoking, onRevoke }: { name: string; isRevoking: boolean; onRevoke(): void }) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="xs" tone="bad" aria-label={t('revokeToken', { name })} onClick={() => setOpen(true)}>
        {t('revoke')}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('revokeTitle', { name })}
        description={t('revokeEffects')}
        action={t('revoke')}
        busy={isRevoking ? t('revoking') : null}
        onConfirm={onRevoke}
      />
    </>
  )
}

/** A token or another secret that is shown once, because the server does not show it again. */
export function ShownOnce({ title, label, text }: { title?: string; label: string; text: string }) {
  const { t } = useTexts()
  return (
    <div className={cx(blocks.banner, blocks.secret, 'col')} role="status">
      <b>{title ?? label}</b>
      <CopyField label={label} text={text} />
      <span className="sm">{t('tokenOnce')}</span>
    </div>
  )
}
