/** What a person wrote and the server does not have yet, kept in this browser: it survives a reload, a crash and a sign-out. */
import type { DraftRow, SpecContent } from '@/api'
import { newId } from '@/lib/ids'
import { readStored, writeStored } from '@/lib/storage'
import type { Lost, LostCode, Unstored } from '../autosave'
import { isSame } from '../content'

/** Whose text, and where. The person is part of it: whoever signs in next on this browser must not see it. */
export interface DraftAddress {
  personId: string
  chatId: string
  agentId: string
}

export interface Pending extends Unstored {
  draftId: string
  base_version: number
  /** Which tab is writing it. */
  tab: string
}

/** A text that could not be stored, set aside for its writer until they forget it. Its id is the suggestion's that it may become. */
export interface LostText extends Lost {
  id: string
  base_version: number
}

const tab = newId()
const MAX_LOST = 5
const pendingKey = ({ personId, chatId, agentId }: DraftAddress) => `atelier.writing.${personId}.${chatId}.${agentId}`
const lostKey = (address: DraftAddress) => `${pendingKey(address)}.lost`

export const readPending = (address: DraftAddress) => readStored<Pending | null>(pendingKey(address), null)

/** Another tab's text is only replaced by a text, never by nothing. */
export function writePending(address: DraftAddress, pending: Omit<Pending, 'tab'> | null): void {
  if (pending) writeStored(pendingKey(address), { ...pending, tab })
  else if (readPending(address)?.tab === tab) writeStored(pendingKey(address), null)
}

export const listLost = (address: DraftAddress) => readStored<LostText[]>(lostKey(address), [])

/** Sets a text aside; the same text is set aside once. Returns all that is there, the newest first. */
export function setAside(address: DraftAddress, lost: Lost, base_version: number): LostText[] {
  const others = listLost(address).filter(other => !isSame(other.content, lost.content))
  const all = [{ ...lost, base_version, id: newId() }, ...others].slice(0, MAX_LOST)
  writeStored(lostKey(address), all)
  return all
}

export function forgetLost(address: DraftAddress, id: string): LostText[] {
  const left = listLost(address).filter(lost => lost.id !== id)
  writeStored(lostKey(address), left.length ? left : null)
  return left
}

/** Takes what a page that is gone left unstored; whoever takes it answers for it. */
export function takePending(address: DraftAddress): Pending | null {
  const pending = readPending(address)
  writeStored(pendingKey(address), null)
  return pending
}

/** Whether an unstored text can simply go on: nobody has written since. What was on its way may have arrived. */
export function continues(pending: Pending, row: DraftRow): boolean {
  if (pending.draftId !== row.id) return false
  if (pending.revision === row.revision) return true
  const arrived = pending.sent !== null && isSame(pending.sent, row.written)
  return arrived && row.revision === pending.revision + 1
}

/** Whether the text is stored already: then there is nothing to set aside. */
export const isStored = (content: SpecContent, row: DraftRow | null) => row !== null && isSame(content, row.written)

/** Why a text that was left cannot go on. */
export function whyLost(pending: Pending, row: DraftRow | null, isLockedByOther: boolean): Omit<Lost, 'content'> {
  const code: LostCode = row?.id !== pending.draftId ? 'no_draft' : isLockedByOther ? 'draft_locked' : 'lock_expired'
  return { code, by: null }
}
