/** The text, icon and path of a notification. Pure functions. */
import type { ChatRow, NotificationRow } from '@/api'
import type { Layer } from '@/features/layers'
import type { PlainTextKey, TextKeyWith } from '@/lib/language'
import {
  agentPath,
  chatPath,
  mergePath,
  messagePath,
  modelPath,
  publicAgentPath,
  suggestionPath,
  toolServerPath,
  usagePath,
} from '@/lib/paths'

export type IconName =
  | 'mention'
  | 'chat'
  | 'suggestion'
  | 'accepted'
  | 'rejected'
  | 'reopened'
  | 'lock'
  | 'asked'
  | 'free'
  | 'merged'
  | 'failed'
  | 'model'
  | 'budget'
  | 'approval'
  | 'tools'
  | 'public'
  | 'deleted'
  | 'access'
  | 'paused'

type NotificationKey = TextKeyWith<'actor' | 'agent' | 'chat'>

export interface NotificationKind {
  key: NotificationKey
  /** The text that names the chat, used if the chat is known. */
  inChat?: NotificationKey
  icon: IconName
  layer: Layer | null
}

const kinds: Record<NotificationRow['type'], NotificationKind> = {
  mention: { key: 'notification.mention', inChat: 'notification.mentionIn', icon: 'mention', layer: null },
  chat_invitation: {
    key: 'notification.chatInvitation',
    inChat: 'notification.chatInvitationIn',
    icon: 'chat',
    layer: null,
  },
  suggestion_created: { key: 'notification.suggestionCreated', icon: 'suggestion', layer: 'suggestion' },
  suggestion_accepted: { key: 'notification.suggestionAccepted', icon: 'accepted', layer: 'suggestion' },
  suggestion_rejected: { key: 'notification.suggestionRejected', icon: 'rejected', layer: 'suggestion' },
  suggestion_reopened: { key: 'notification.suggestionReopened', icon: 'reopened', layer: 'suggestion' },
  suggestion_unused: { key: 'notification.suggestionUnused', icon: 'rejected', layer: 'suggestion' },
  lock_lost: { key: 'notification.lockLost', icon: 'lock', layer: 'writing' },
  draft_requested: {
    key: 'notification.draftRequested',
    inChat: 'notification.draftRequestedIn',
    icon: 'asked',
    layer: 'writing',
  },
  draft_unlocked: {
    key: 'notification.draftUnlocked',
    inChat: 'notification.draftUnlockedIn',
    icon: 'free',
    layer: 'writing',
  },
  draft_handed_over: {
    key: 'notification.draftHandedOver',
    inChat: 'notification.draftHandedOverIn',
    icon: 'free',
    layer: 'writing',
  },
  merge_done: { key: 'notification.mergeDone', icon: 'merged', layer: 'writing' },
  merge_failed: { key: 'notification.mergeFailed', icon: 'failed', layer: null },
  approval_asked: {
    key: 'notification.approvalAsked',
    inChat: 'notification.approvalAskedIn',
    icon: 'approval',
    layer: null,
  },
  model_changed: { key: 'notification.modelChanged', icon: 'model', layer: null },
  agent_published: { key: 'notification.agentPublished', icon: 'public', layer: null },
  agent_taken_down: { key: 'notification.agentTakenDown', icon: 'public', layer: null },
  budget_warning: { key: 'notification.budgetWarning', icon: 'budget', layer: null },
  tools_changed: { key: 'notification.toolsChanged', icon: 'tools', layer: null },
  webhook_disabled: { key: 'notification.webhookDisabled', icon: 'failed', layer: null },
  schedule_paused: { key: 'notification.schedulePaused', icon: 'paused', layer: null },
  schedule_failed: { key: 'notification.scheduleFailed', icon: 'failed', layer: null },
  run_failed: { key: 'notification.runFailed', inChat: 'notification.runFailedIn', icon: 'failed', layer: null },
  board_ended: { key: 'notification.boardEnded', inChat: 'notification.boardEndedIn', icon: 'approval', layer: null },
  board_paused: { key: 'notification.boardPaused', inChat: 'notification.boardPausedIn', icon: 'paused', layer: null },
  board_waits: { key: 'notification.boardWaits', inChat: 'notification.boardWaitsIn', icon: 'asked', layer: null },
  grant_given: { key: 'notification.grantGiven', icon: 'access', layer: null },
  grant_taken: { key: 'notification.grantTaken', icon: 'access', layer: null },
  workspace_deleted: { key: 'notification.workspaceDeleted', icon: 'deleted', layer: null },
}

const rights: Record<string, PlainTextKey> = {
  edit_draft_actor: 'right.editDraft',
  save_agent_actor: 'right.saveAgent',
  review_agent_actor: 'right.reviewAgent',
  update_agent_profile_actor: 'right.updateAgentProfile',
  stop_run_chat: 'right.stopRun',
  invite_workspace: 'right.invite',
  set_model_workspace: 'right.setModel',
  create_agent_workspace: 'right.createAgent',
}

/** Returns the text of a granted right; null for a right that this client does not know, because the server is newer. */
export const getRightKey = (codename: string): PlainTextKey | null => rights[codename] ?? null

/** Returns the text and icon of a notification; null for a type that this client does not know, because the server is newer. */
export function getKind(row: NotificationRow, chat: string): NotificationKind | null {
  const kind = kinds[row.type] as NotificationKind | undefined
  if (!kind) return null
  return kind.inChat && chat ? { ...kind, key: kind.inChat } : kind
}

/** Formats the title with a #, since an agent may have the same name. That of a direct chat is a name itself. */
export const formatChatTitle = (chat: ChatRow | undefined) =>
  chat?.title ? `${chat.is_direct ? '' : '#'}${chat.title}` : ''

/** Returns the path of a notification's subject in the workspace with this handle; null if it is not open to the reader. */
export function getPath(row: NotificationRow, workspace: string): string | null {
  const inChat = row.chat_id ? chatPath(workspace, row.chat_id) : null
  switch (row.type) {
    case 'mention':
    case 'approval_asked':
    case 'run_failed':
    case 'board_ended':
    case 'board_paused':
    case 'board_waits':
      return row.chat_id && row.message_id && messagePath(workspace, row.chat_id, row.message_id)
    case 'chat_invitation':
      return inChat
    case 'lock_lost':
    case 'draft_requested':
    case 'draft_unlocked':
    case 'draft_handed_over':
    case 'merge_done':
      return inChat && `${inChat}?workshop=${row.agent_id}`
    case 'merge_failed':
      return row.merge_id && mergePath(workspace, row.merge_id)
    case 'model_changed':
      return modelPath(workspace)
    case 'budget_warning':
      return usagePath(workspace)
    case 'tools_changed':
      return row.tool_server_id && toolServerPath(workspace, row.tool_server_id)
    case 'suggestion_created':
    case 'suggestion_accepted':
    case 'suggestion_rejected':
    case 'suggestion_reopened':
    case 'suggestion_unused':
      return row.suggestion_id && suggestionPath(workspace, row.suggestion_id)
    case 'agent_published':
    case 'agent_taken_down':
      return row.agent_id && publicAgentPath(workspace, row.agent_id)
    case 'webhook_disabled':
      return row.agent_id && agentPath(workspace, row.agent_id)
    case 'schedule_paused':
    case 'schedule_failed':
      return row.agent_id && `${agentPath(workspace, row.agent_id)}/schedule`
    case 'grant_given':
    case 'grant_taken':
      return row.agent_id ? agentPath(workspace, row.agent_id) : inChat
    case 'workspace_deleted':
      return null
    default:
      row.type satisfies never
      return null
  }
}
