/** Returns the members of a union, which are given as the keys of a record, so that `tsc` reports a missing one. */
export const listKeys = <Key extends string>(keys: Record<Key, true>): readonly Key[] => Object.keys(keys) as Key[]
