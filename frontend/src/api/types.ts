/** Short names for the generated shapes. Nothing is declared here that the server declares. */
import type { components } from './generated/schema'

type Schemas = components['schemas']

export type ActorRow = Schemas['ActorRow']
export type AgentRow = Schemas['AgentRow']
export type ApiTokenRow = Schemas['ApiTokenRow']
export type ChatRow = Schemas['ChatRow']
export type ChatSummaryRow = Schemas['ChatSummaryRow']
export type Conflict = Schemas['Conflict']
export type DraftRow = Schemas['DraftRow']
export type EarlierTextRow = Schemas['EarlierTextRow']
export type LinkRow = Schemas['LinkRow']
export type MemberRow = Schemas['MemberRow']
export type MembershipRow = Schemas['MembershipRow']
export type MergeRow = Schemas['MergeRow']
export type MessageRow = Schemas['MessageRow']
export type ModelRow = Schemas['ModelRow']
export type Piece = Schemas['Piece']
export type Voice = Schemas['Voice']
export type Provenance = Schemas['Provenance']
export type RunRow = Schemas['RunRow']
export type SpecRow = Schemas['SpecRow']
export type Stamp = Schemas['Stamp']
export type SuggestionDetailRow = Schemas['SuggestionDetailRow']
export type SuggestionRow = Schemas['SuggestionRow']
export type ToolConfigRow = Schemas['ToolConfigRow']
export type ToolRow = Schemas['ToolRow']
export type WorkspaceRow = Schemas['WorkspaceRow']
export type Role = WorkspaceRow['role']

export type TextPayload = Schemas['Text']
export type ThinkingPayload = Schemas['Thinking']
export type ToolCallPayload = Schemas['ToolCall']
export type ToolResponsePayload = Schemas['ToolResponse']
export type AboutPayload = Schemas['About']

export type ServerFrame = Schemas['ServerFrame']
export type ClientFrame = Schemas['ClientFrame']
export type Subscribed = Schemas['Subscribed']
export type Changes = Schemas['Changes']
export type Delta = Schemas['Delta']
export type DraftText = Schemas['DraftText']
export type PartialRow = Schemas['Partial']
export type AnyRow = Subscribed['rows'][number]
export type ServerCode = Schemas['Code']

export type SpecContent = Schemas['SpecContent']
export type Me = Schemas['MeRow']
export type ModelOffer = Schemas['OfferRow']
export type ModelTest = Schemas['TestedRow']
export type AgentTemplate = Schemas['TemplateRow']
export type NewToken = Schemas['NewTokenRow']
export type NewAgentRow = Schemas['NewAgentRow']
export type Wake = Schemas['WakesRow']
export type JoinOffer = Schemas['InvitationRow']
export type Joined = Schemas['JoinedRow']

/** One page of a list; `next` is the cursor of the next one. */
export interface Page<T> {
  results: T[]
  next: string | null
}
