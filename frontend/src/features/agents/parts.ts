import type { SpecContent } from '@/api'
import type { PlainTextKey, Texts } from '@/lib/language'

/** Names the changed fields of a spec (`touches`) as words of a sentence, for example "prompt, tools". */
export const describeParts = (parts: readonly string[], t: Texts['t']): string =>
  parts
    .map((part): PlainTextKey => `touches.${part as keyof SpecContent}`)
    .map(key => t(key))
    .join(t('listJoin'))
