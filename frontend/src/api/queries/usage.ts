import { useQuery } from '@tanstack/react-query'
import { buildUrl, rest, unwrap } from '../client'
import type { BodyOf, UsageGroup } from '../types'
import { useAction } from './action'
import { keys } from './keys'

/** The first and the last day, as `2026-11-30`, and by what the rows are grouped. */
export interface UsageFilter {
  startsOn: string
  endsOn: string
  group: UsageGroup
}

export type NewBudget = BodyOf<'/api/v1/workspaces/{workspace_id}/budgets', 'post'>
export type BoardSettings = BodyOf<'/api/v1/workspaces/{workspace_id}/boards', 'put'>
export type BudgetChange = BodyOf<'/api/v1/budgets/{budget_id}', 'patch'>
export type NewPrice = BodyOf<'/api/v1/workspaces/{workspace_id}/prices', 'put'>

/** Builds the path parameters of a workspace. */
const workspaceParams = (id: string) => ({ params: { path: { workspace_id: id } } })
const buildUsageQuery = ({ startsOn, endsOn, group }: UsageFilter) => ({ starts_on: startsOn, ends_on: endsOn, group })

export const useUsage = (workspaceId: string, filter: UsageFilter) =>
  useQuery({
    queryKey: [...keys.usage(workspaceId), filter],
    queryFn: ({ signal }) =>
      unwrap(
        rest.GET('/api/v1/workspaces/{workspace_id}/usage', {
          params: { path: { workspace_id: workspaceId }, query: buildUsageQuery(filter) },
          signal,
        }),
      ),
    placeholderData: previous => previous,
    staleTime: 0,
  })

export const getUsageExportUrl = (workspaceId: string, filter: UsageFilter) =>
  buildUrl('/api/v1/workspaces/{workspace_id}/usage.csv', {
    path: { workspace_id: workspaceId },
    query: buildUsageQuery(filter),
  })

export const useBudgets = (workspaceId: string) =>
  useQuery({
    queryKey: keys.budgets(workspaceId),
    queryFn: async ({ signal }) =>
      (await unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/budgets', { ...workspaceParams(workspaceId), signal })))
        .results,
    staleTime: 0,
  })

/** What the workspace has set for boards. The `list_changed` frame of the budgets invalidates it, too. */
export const useBoardSettings = (workspaceId: string) =>
  useQuery({
    queryKey: [...keys.budgets(workspaceId), 'boards'],
    queryFn: ({ signal }) =>
      unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/boards', { ...workspaceParams(workspaceId), signal })),
    staleTime: 0,
  })

export const changeBoardSettings = (workspaceId: string, body: BoardSettings) =>
  unwrap(rest.PUT('/api/v1/workspaces/{workspace_id}/boards', { ...workspaceParams(workspaceId), body }))

export const createBudget = (workspaceId: string, body: NewBudget) =>
  unwrap(rest.POST('/api/v1/workspaces/{workspace_id}/budgets', { ...workspaceParams(workspaceId), body }))

export const changeBudget = (id: string, body: BudgetChange) =>
  unwrap(rest.PATCH('/api/v1/budgets/{budget_id}', { params: { path: { budget_id: id } }, body }))

export const deleteBudget = (id: string) =>
  rest.DELETE('/api/v1/budgets/{budget_id}', { params: { path: { budget_id: id } } })

export const usePrices = (workspaceId: string) =>
  useQuery({
    queryKey: [...keys.budgets(workspaceId), 'prices'],
    queryFn: async ({ signal }) =>
      (await unwrap(rest.GET('/api/v1/workspaces/{workspace_id}/prices', { ...workspaceParams(workspaceId), signal })))
        .results,
  })

export const setPrice = (workspaceId: string, body: NewPrice) =>
  unwrap(rest.PUT('/api/v1/workspaces/{workspace_id}/prices', { ...workspaceParams(workspaceId), body }))

export const deletePrice = (id: string) =>
  rest.DELETE('/api/v1/prices/{price_id}', { params: { path: { price_id: id } } })

/** Reads the requests of a run to models. */
export const useRunCalls = (runId: string) =>
  useQuery({
    queryKey: keys.runCalls(runId),
    queryFn: async ({ signal }) =>
      (await unwrap(rest.GET('/api/v1/runs/{run_id}/calls', { params: { path: { run_id: runId } }, signal }))).results,
    staleTime: 0,
  })

/** An action after which the budgets and prices of a workspace are read again. */
export const useBudgetAction = <T>(workspaceId: string, action: (input: T) => Promise<unknown>) =>
  useAction({
    mutationFn: action,
    onSettled: (_result, _error, _input, _context, { client }) =>
      client.invalidateQueries({ queryKey: keys.budgets(workspaceId) }),
  })
