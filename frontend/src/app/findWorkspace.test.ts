import { expect, it } from 'vitest'
import type { WorkspaceRow } from '@/api'
import { findWorkspace } from './findWorkspace'

it('finds a workspace by a former handle, unless another one has it now', () => {
  const workspaces = [
    { id: 'a', handle: 'new', former_handles: ['old', 'lab'] },
    { id: 'b', handle: 'lab', former_handles: [] },
  ] as unknown as WorkspaceRow[]
  expect(['new', 'old', 'lab', 'other'].map(handle => findWorkspace(workspaces, handle)?.id)).toEqual([
    'a',
    'a',
    'b',
    undefined,
  ])
})
