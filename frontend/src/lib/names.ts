import { currentTag } from './language'
import { addCjkSpacing } from './spacing'

/** Formats names as a list: "Ann, Bob and Carol". */
export const formatList = (names: readonly string[]): string =>
  addCjkSpacing(new Intl.ListFormat(currentTag(), { type: 'conjunction' }).format(names), currentTag())
