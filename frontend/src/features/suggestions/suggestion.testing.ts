/** Rows for the tests of suggestions. */
import type { ActorRow, ListedSuggestionRow, MergeRow } from '@/api'

export const actor = (id: string, more: Partial<ActorRow> = {}): ActorRow =>
  ({ id, kind: 'human', name: id, handle: id, ...more }) as ActorRow

export const suggestion = (id: string, more: Partial<ListedSuggestionRow> = {}): ListedSuggestionRow => ({
  id,
  workspace_id: 'w',
  agent: actor('robin', { kind: 'agent' }),
  author: actor('carol'),
  chat_id: null,
  chat_title: null,
  base_version: 6,
  production: 6,
  touches: ['prompt'],
  note: '',
  summary: '',
  summary_state: 'pending',
  summary_error: null,
  state: 'pending',
  merge_id: null,
  saved_as: null,
  decided_by: null,
  decided_at: null,
  reason: '',
  verbs: ['accept', 'reject'],
  created_at: `2026-11-20T10:00:0${id.slice(-1)}Z`,
  ...more,
})

export const merge = (more: Partial<MergeRow> = {}): MergeRow => ({
  id: 'm',
  workspace_id: 'w',
  agent_id: 'robin',
  chat_id: 'c',
  by: actor('alice'),
  unused_ids: [],
  suggestion_ids: ['s1', 's2'],
  state: 'working',
  method: null,
  base_version: 6,
  provenance: null,
  draft_id: null,
  error_code: null,
  error: null,
  model: '',
  tokens: 0,
  cost_micro: null,
  created_at: '2026-11-20T10:00:00Z',
  ended_at: null,
  ...more,
})
