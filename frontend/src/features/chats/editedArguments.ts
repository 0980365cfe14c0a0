/** The edited arguments of a call that waits for a decision. They survive a reload, as the text of the composer does. */
import { listStored, readStored, writeStored } from '@/lib/storage'

interface EditedArguments {
  /** The texts of the fields, in the order of the arguments. */
  texts: readonly string[]
  /** The time at which the call expires if nobody has decided. */
  expiresAt: string
}

const PREFIX = 'atelier.approval.'

/** Returns the edited texts of a call; null if it was not edited. */
export const readEditedArguments = (id: string): readonly string[] | null =>
  readStored<EditedArguments | null>(PREFIX + id, null)?.texts ?? null

/** Stores the edited texts of a call, or removes them (null). The edited texts of expired calls are removed, too. */
export function storeEditedArguments(id: string, texts: readonly string[] | null, expiresAt: string): void {
  for (const [otherId, edited] of listStored<EditedArguments>(PREFIX))
    if (Date.parse(edited.expiresAt) < Date.now()) writeStored(PREFIX + otherId, null)
  writeStored(PREFIX + id, texts ? { texts, expiresAt } : null)
}
