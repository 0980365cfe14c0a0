import { type LLMCallRow, useRunCalls } from '@/api'
import { getCodeText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatCurrency, formatNumber, formatSeconds } from '@/lib/time'
import { Dialog } from '@/ui/Dialog'
import { Loading } from '@/ui/Loading'
import styles from './Usage.module.css'

/** The requests of a run to models: which model, how many tokens, what it cost, and who paid. */
export function CallsDialog({ runId, onClose }: { runId: string; onClose(): void }) {
  const { t } = useTexts()
  const query = useRunCalls(runId)
  const calls = query.data
  return (
    <Dialog open onOpenChange={isOpen => !isOpen && onClose()} title={t('calls.title')}>
      {calls === undefined ? (
        <Loading query={query} lines={3} />
      ) : calls.length === 0 ? (
        <p className="muted">{t('calls.none')}</p>
      ) : (
        <div className={styles.scroll}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th>{t('usage.model')}</th>
                <th className={styles.number}>{t('usage.tokens')}</th>
                <th className={styles.number}>{t('calls.seconds')}</th>
                <th>{t('calls.payer')}</th>
                <th className={styles.number}>{t('usage.cost')}</th>
              </tr>
            </thead>
            <tbody>
              {calls.map(call => (
                <CallRow key={call.id} call={call} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Dialog>
  )
}

function CallRow({ call }: { call: LLMCallRow }) {
  const { t } = useTexts()
  return (
    <tr>
      <td>
        {call.model}
        {call.error_code ? <span className="faint"> · {getCodeText(call.error_code)}</span> : null}
      </td>
      <td className={styles.number}>
        {call.tokens_estimated ? '≈ ' : ''}
        {formatNumber(call.input_tokens + call.output_tokens)}
      </td>
      <td className={styles.number}>{call.seconds === null ? '–' : formatSeconds(call.seconds)}</td>
      <td>{t(`calls.payer.${call.paid_by}`)}</td>
      <td className={styles.number}>
        {call.cost_micro === null ? t('usage.priceUnknown') : formatCurrency(call.cost_micro)}
      </td>
    </tr>
  )
}
