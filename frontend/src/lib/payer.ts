/** Says whose key paid for an answer, and why. */
import { type TextKeyWith, t } from './language'

type KeyAfter<Prefix extends string, Key> = Key extends `${Prefix}.${infer Rest}` ? Rest : never
/** The codes that have a text. The compiler reports a code of the server that has none. */
type PayerReason = KeyAfter<'paidWhy', TextKeyWith<'name'>>
type PaidBy = KeyAfter<'paid', TextKeyWith<'name'>>

interface Payment {
  paidBy: PaidBy | null | undefined
  reason: PayerReason | null | undefined
  /** The person whose own key paid. */
  name: string
}

/** Returns why a person's own model answers or not, as a part of a sentence. */
export const getReasonText = (reason: PayerReason, name = ''): string => t(`paidWhy.${reason}`, { name })

/** Returns a sentence such as “Paid by Alice's own key, because …”; empty if it is not known who paid. */
export function describePayment({ paidBy, reason, name }: Payment): string {
  if (!paidBy) return ''
  const paid = t(`paid.${paidBy}`, { name })
  return reason ? t('paidBecause', { paid, why: getReasonText(reason, name) }) : paid
}
