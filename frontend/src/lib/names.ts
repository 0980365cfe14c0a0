import { currentTag } from './language'

/** Names as one reads them in a row: "Ann, Bob and Carol". */
export const formatList = (names: readonly string[]): string =>
  new Intl.ListFormat(currentTag(), { type: 'conjunction' }).format(names)
