import type { ActorRow } from '@/api'

/** The `@all` mention: it notifies all people in the chat and wakes no agent. */
export const ALL_PEOPLE: ActorRow = {
  id: 'all',
  kind: 'human',
  name: '',
  handle: 'all',
  description: null,
  workspace_id: null,
  is_public: false,
  is_taken_down: false,
  avatar: null,
}
