import { currentTag } from './language'

/** Formats names as a list: "Ann, Bob and Carol". */
export const formatList = (names: readonly string[]): string =>
  new Intl.ListFormat(currentTag(), { type: 'conjunction' }).format(names)
