/** Returns the members of a union, in the order of the keys. It is given as a record, so that `tsc` reports a missing one. */
export const listKeys = <Key extends string>(keys: Record<Key, true>): readonly Key[] => Object.keys(keys) as Key[]
