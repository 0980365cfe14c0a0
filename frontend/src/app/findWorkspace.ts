import type { WorkspaceRow } from '@/api'

/** Returns the workspace that has a handle, else the one that had it before. */
export const findWorkspace = (workspaces: readonly WorkspaceRow[], handle: string): WorkspaceRow | undefined =>
  workspaces.find(row => row.handle === handle) ?? workspaces.find(row => row.former_handles.includes(handle))
