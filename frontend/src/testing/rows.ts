import type { MessageRow, SystemMessageRow, SystemPayload, TextMessageRow } from '@/api'

/** The fields of a message that differ from the default. The payload may be partial, or one that only a newer server sends. */
export interface MessageChange extends Partial<Omit<TextMessageRow, 'type' | 'payload'>> {
  type?: string
  payload?: object
}

/** Builds a message row. */
export const messageRow = (seq: number, more: MessageChange = {}): MessageRow => {
  const row: MessageChange = {
    kind: 'message',
    id: `m${seq}`,
    chat_id: 'c',
    version: seq,
    seq,
    author_id: 'alice',
    type: 'TEXT_MESSAGE',
    payload: { text: '' },
    reply_to: null,
    run_id: null,
    metadata: null,
    created_at: '2026-11-20T10:00:00Z',
    edited_at: null,
    pinned_at: null,
    pinned_by: null,
    ...more,
  }
  return row as MessageRow
}

/** Builds a system message row. */
export const systemRow = (
  type: SystemMessageRow['type'],
  payload: Partial<SystemPayload> = {},
  more: Partial<SystemMessageRow> = {},
): SystemMessageRow => ({
  kind: 'message',
  id: 'm',
  chat_id: 'c',
  version: 2,
  seq: 2,
  author_id: null,
  type,
  payload: {
    actor_name: '',
    target_name: '',
    note: '',
    via: '',
    authors: [],
    mention_only_name: '',
    summary: '',
    payer_name: '',
    touches: [],
    ...payload,
  },
  reply_to: null,
  run_id: null,
  metadata: null,
  created_at: '2026-11-20T10:00:00Z',
  edited_at: null,
  pinned_at: null,
  pinned_by: null,
  ...more,
})
