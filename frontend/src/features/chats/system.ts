/** The text, icon and details of a system message. Pure functions. */
import type { MessageRow, SystemMessageRow, SystemPayload } from '@/api'
import type { Layer } from '@/features/layers'
import type { TextKeyWith } from '@/lib/language'
import { isBeginningOfChat } from './groupedMessages'

type ValueName =
  | 'version'
  | 'apply'
  | 'note'
  | 'via'
  | 'actor'
  | 'target'
  | 'agent'
  | 'authors'
  | 'name'
  | 'missed'
  | 'targets'
  | 'most'
  | 'tasks'
  | 'succeeded'
type SystemTextKey = Extract<TextKeyWith<ValueName>, `sys.${string}`>

export interface SystemText {
  key: SystemTextKey
  values: Record<ValueName, string>
  icon: Layer | 'joined' | 'left' | 'failed' | 'stopped' | 'context' | 'woken' | 'limit' | 'pinned' | 'answer' | 'tasks'
  /** The note of its author, shown below the text. */
  quote: string
  suggestionId: string | null
  /** The id of the public agent that has changed. */
  publicAgentId: string | null
  /** The id of the agent whose draft is to be reviewed. */
  draftOf: string | null
  /** The summary of a suggestion by a model; null if there is none. */
  summary: { state: 'pending' | 'ready' | 'failed'; text: string } | null
}

/** The text and the icon of each type. If a type has several texts, `key` is one of them, and `chooseKey` chooses. */
const texts: Record<SystemMessageRow['type'], { key: SystemTextKey; icon: SystemText['icon'] }> = {
  MEMBER_JOINED: { key: 'sys.joined', icon: 'joined' },
  MEMBER_LEFT: { key: 'sys.left', icon: 'left' },
  LOCK_ACQUIRED: { key: 'sys.lock', icon: 'writing' },
  LOCK_RELEASED: { key: 'sys.unlock', icon: 'writing' },
  DRAFT_STARTED: { key: 'sys.draft', icon: 'writing' },
  DRAFT_APPLIED: { key: 'sys.applied', icon: 'applied' },
  DRAFT_DISCARDED: { key: 'sys.discarded', icon: 'writing' },
  DRAFT_MERGED: { key: 'sys.merged', icon: 'writing' },
  SPEC_SAVED: { key: 'sys.saved', icon: 'production' },
  SUGGESTION_CREATED: { key: 'sys.suggested', icon: 'suggestion' },
  SUGGESTION_ACCEPTED: { key: 'sys.accepted', icon: 'suggestion' },
  SUGGESTION_REJECTED: { key: 'sys.rejected', icon: 'suggestion' },
  SUGGESTION_WITHDRAWN: { key: 'sys.withdrawn', icon: 'suggestion' },
  RUN_FAILED: { key: 'sys.failed', icon: 'failed' },
  AGENT_PUBLISHED: { key: 'sys.agentPublished', icon: 'production' },
  AGENT_TAKEN_DOWN: { key: 'sys.agentTakenDown', icon: 'stopped' },
  CONTEXT_STRATEGY_CHANGED: { key: 'sys.contextSummarise', icon: 'context' },
  RUN_STOPPED: { key: 'sys.stopped', icon: 'stopped' },
  AGENT_WOKEN: { key: 'sys.woken', icon: 'woken' },
  MESSAGE_PINNED: { key: 'sys.pinned', icon: 'pinned' },
  ANSWER_CHOSEN: { key: 'sys.answerChosen', icon: 'answer' },
  TASKS_STARTED: { key: 'sys.tasksStarted', icon: 'tasks' },
  TASKS_ENDED: { key: 'sys.tasksEnded', icon: 'tasks' },
  TASKS_STOPPED: { key: 'sys.tasksStopped', icon: 'stopped' },
  TASKS_PAUSED: { key: 'sys.tasksPaused', icon: 'tasks' },
  TASKS_RESUMED: { key: 'sys.tasksResumed', icon: 'tasks' },
  WAKE_LIMIT_REACHED: { key: 'sys.limitHops', icon: 'limit' },
}

export const isSystemMessage = (row: MessageRow): row is SystemMessageRow => row.type in texts

type GetName = (id: string | null | undefined, fallback: string) => string

type FormatList = (names: readonly string[]) => string

/** Builds the text of a system message; null for a type that this client does not know, because the server is newer. */
export function buildSystemText(row: SystemMessageRow, getName: GetName, formatList: FormatList): SystemText | null {
  if (!(row.type in texts)) return null
  const text = texts[row.type]
  const about = row.payload
  const isNewSuggestion = row.type === 'SUGGESTION_CREATED'
  return {
    key: chooseKey(text.key, about, isBeginningOfChat(row)),
    icon: text.icon,
    values: {
      ...plainValues(about),
      actor: getName(about.actor_id ?? row.author_id, about.actor_name ?? ''),
      target: getName(about.target_id, about.target_name ?? ''),
      agent: getName(about.mention_only_id, about.mention_only_name ?? ''),
      authors: formatList(about.authors ?? []),
      targets: formatList(about.agent_names ?? []),
    },
    quote: isNewSuggestion || row.type === 'SUGGESTION_REJECTED' ? (about.note ?? '') : '',
    suggestionId: about.suggestion_id ?? null,
    publicAgentId: findPublicAgent(row),
    // An agent (`via`) or a merge has written the draft, so a person is to review it.
    draftOf: about.via || row.type === 'DRAFT_MERGED' ? (about.target_id ?? null) : null,
    summary: isNewSuggestion ? getSummary(about) : null,
  }
}

const findPublicAgent = ({ type, payload }: SystemMessageRow): string | null =>
  type === 'AGENT_PUBLISHED' || type === 'AGENT_TAKEN_DOWN' ? (payload.target_id ?? null) : null

const plainValues = (about: SystemPayload) => ({
  version: `v${about.version ?? '?'}`,
  apply: `r${about.draft_apply ?? '?'}`,
  note: about.note ?? '',
  via: about.via ?? '',
  name: about.name ?? '',
  missed: String(about.missed ?? 0),
  most: String(about.most ?? 0),
  tasks: String(about.tasks ?? 0),
  succeeded: String(about.succeeded ?? 0),
})

const getSummary = (about: SystemPayload): SystemText['summary'] =>
  about.summary_state ? { state: about.summary_state, text: about.summary ?? '' } : null

const contextKeys: Record<NonNullable<SystemPayload['strategy']>, SystemTextKey> = {
  summarise: 'sys.contextSummarise',
  retrieve: 'sys.contextRetrieve',
  truncate: 'sys.contextTruncate',
}

const limitKeys = {
  hops: 'sys.limitHops',
  pair_rate: 'sys.limitPair',
  pair_day: 'sys.limitPairInDay',
} as const satisfies Record<NonNullable<SystemPayload['limit']>, SystemTextKey>

/** Chooses the variant of a text that fits the payload. `key` is that of the type in `texts`. */
function chooseKey(key: SystemTextKey, about: SystemPayload, isBeginning: boolean): SystemTextKey {
  const isByThemselves = !about.target_id || about.target_id === about.actor_id
  switch (key) {
    case 'sys.joined':
      return isBeginning ? 'sys.createdAlone' : chooseJoinedKey(isByThemselves, Boolean(about.mention_only_id))
    case 'sys.contextSummarise':
      return contextKeys[about.strategy ?? 'summarise']
    case 'sys.tasksStarted':
      return chooseStartedKey(about)
    case 'sys.left':
      return isByThemselves ? 'sys.leftAlone' : key
    case 'sys.saved':
    case 'sys.agentPublished':
    case 'sys.agentTakenDown':
      return about.note ? `${key}Note` : key
    case 'sys.draft':
    case 'sys.lock':
      return about.via ? chooseViaKey(about) : key
    case 'sys.woken':
      return chooseWokenKey(about)
    case 'sys.limitHops':
      return limitKeys[about.limit ?? 'hops']
    case 'sys.discarded':
    case 'sys.accepted':
    case 'sys.rejected':
      return about.authors?.length ? `${key}Of` : key
    default:
      return key
  }
}

const chooseStartedKey = ({ tasks }: SystemPayload): SystemTextKey =>
  tasks === 1 ? 'sys.taskStarted' : 'sys.tasksStarted'

function chooseWokenKey({ reason, missed }: SystemPayload): SystemTextKey {
  if (reason !== 'schedule') return 'sys.woken'
  return missed ? 'sys.wokenBySchedulesMissed' : 'sys.wokenBySchedule'
}

/** `changesResponse`: because of the join, an agent of the chat (`mention_only_id`) now answers only messages that mention it. */
function chooseJoinedKey(isByThemselves: boolean, changesResponse: boolean): SystemTextKey {
  if (changesResponse) return isByThemselves ? 'sys.joinedAloneMentionOnly' : 'sys.joinedMentionOnly'
  return isByThemselves ? 'sys.joinedAlone' : 'sys.joined'
}

const chooseViaKey = (about: SystemPayload): SystemTextKey =>
  about.via === about.target_name ? 'sys.draftSelf' : 'sys.draftVia'
