/** Short names for the types that are generated from the server's schema. */
import type { components, paths } from './generated/schema'

type Schemas = components['schemas']

export type ActorRow = Schemas['ActorRow']
export type AgentRow = Schemas['AgentRow']
/** The row in lists. `AgentRow` adds the production version. */
export type AgentSummaryRow = Schemas['AgentSummaryRow']
export type ApiTokenRow = Schemas['ApiTokenRow']
export type ChatActivity = Schemas['ChatActivity']
export type ChatRow = Schemas['ChatRow']
export type ChatSummaryRow = Schemas['ChatSummaryRow']
export type Conflict = Schemas['Conflict']
export type DiffRow = Schemas['DiffRow']
export type DraftRow = Schemas['DraftRow']
export type FileMessageRow = Schemas['FileMessageRow']
export type FilePayload = Schemas['FilePayload']
export type FileRow = Schemas['FileRow']
export type FileKind = FileRow['kind']
export type LockWaiterRow = Schemas['LockWaiterRow']
export type DraftSnapshotRow = Schemas['DraftSnapshotRow']
export type LockedDraftRow = Schemas['LockedDraftRow']
export type LinkRow = Schemas['LinkRow']
export type ParticipantRow = Schemas['ParticipantRow']
export type MembershipRow = Schemas['MembershipRow']
export type MergeRow = Schemas['MergeRow']
export type MessagePage = Schemas['MessagePageRow']
export type MessageRow = Schemas['MessageRow']
export type TextMessageRow = Schemas['TextMessageRow']
export type ComparisonRow = Schemas['ComparisonRow']
export type SystemMessageRow = Schemas['SystemMessageRow']
export type ModelRow = Schemas['ModelRow']
export type NotificationRow = Schemas['NotificationRow']
export type Segment = Schemas['Segment']
export type Provenance = Schemas['Provenance']
export type ImportRow = Schemas['ImportRow']
export type ReplyRow = Schemas['ReplyRow']
export type RunRow = Schemas['RunRow']
export type SpecRow = Schemas['SpecRow']
export type Stamp = Schemas['Stamp']
export type SuggestionDetailRow = Schemas['SuggestionDetailRow']
/** The row in lists. `SuggestionRow` adds the content. */
export type ListedSuggestionRow = Schemas['ListedSuggestionRow']
export type SuggestionRow = Schemas['SuggestionRow']
export type ToolRow = Schemas['ToolRow']
export type WorkspaceRow = Schemas['WorkspaceRow']
export type Role = WorkspaceRow['role']

export type ToolResponsePayload = Schemas['ToolResponsePayload']
export type WebPage = Schemas['WebPageData']
export type SearchResultsData = Schemas['SearchResultsData']
export type ToolData = NonNullable<ToolResponsePayload['data']>
export type SystemPayload = Schemas['SystemPayload']
export type ComparisonPayload = Schemas['ComparisonPayload']
export type VoteCount = Schemas['VoteCount']

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
export type EmailChange = Schemas['EmailChangeRow']
export type ModelOffer = Schemas['OfferRow']
export type ModelProvider = Schemas['ProviderRow']
export type ProviderField = Schemas['ProviderFieldRow']
export type AgentTemplate = Schemas['TemplateRow']
export type NewAgentRow = Schemas['NewAgentRow']
export type Wake = Schemas['WakesRow']

/** The body of a request to the REST API. */
export type BodyOf<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never
