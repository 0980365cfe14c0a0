import type {
  BoardRow,
  BoardTaskRow,
  MessageRow,
  SystemMessageRow,
  SystemPayload,
  TaskResultRow,
  TextMessageRow,
} from '@/api'

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
    thumbs: null,
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
  thumbs: null,
  ...more,
})

/** Builds the row of a board by Alice's supervisor, which is executed. */
export const boardRow = (more: Partial<BoardRow> = {}): BoardRow => ({
  kind: 'board',
  id: 'b',
  chat_id: 'c',
  version: 1,
  planned_by: 'model',
  state: 'executing',
  reason_code: null,
  error: null,
  user_input: 'Four days in Kyoto',
  reasoning: '',
  requires_aggregation: true,
  task_count: 1,
  max_at_once: 3,
  message_id: null,
  supervisor_run_id: 'r',
  call_id: 'plan',
  aggregator_id: 'robin',
  answer_run_id: null,
  final_response: null,
  forked_from: null,
  forked_at: null,
  on_behalf_of: 'alice',
  started_by: 'alice',
  pause_reason: null,
  paused_by: null,
  paused_at: null,
  stopped_by: null,
  limit_micro: null,
  estimate_micro: null,
  cost_micro: 0,
  created_at: '2026-11-20T10:00:00Z',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: null,
  ...more,
})

/** Builds the row of a task of the board `b`, with the id `t<number>`. */
export const boardTaskRow = (number: number, more: Partial<BoardTaskRow> = {}): BoardTaskRow => ({
  kind: 'board_task',
  id: `t${number}`,
  chat_id: 'c',
  version: 1,
  board_id: 'b',
  number,
  agent_id: `agent ${number}`,
  agent_name: `Agent ${number}`,
  description: `Description ${number}`,
  replaced_description: null,
  parameters: {},
  file_ids: [],
  output_schema: null,
  after: [],
  join: 'all',
  on_failure: 'go_on',
  state: 'pending',
  reason_code: null,
  attempt: 0,
  max_attempts: 2,
  run_id: null,
  results: [],
  cost_micro: 0,
  created_at: '2026-11-20T10:00:00Z',
  started_at: null,
  ended_at: null,
  ...more,
})

/** Builds what the first attempt at a task brought: the text `It is done.` */
export const taskResult = (more: Partial<TaskResultRow> = {}): TaskResultRow => ({
  attempt: 1,
  success: true,
  text: 'It is done.',
  is_cut: false,
  follows_schema: false,
  files: [],
  message_id: null,
  error: null,
  error_code: null,
  execution_time: 4,
  run_id: 'r1',
  is_reused: false,
  is_late: false,
  cost_micro: 4_000,
  created_at: '2026-11-20T10:01:00Z',
  ...more,
})
