import { useQuery } from '@tanstack/react-query'
import { rest, unwrap } from '../client'
import type { BodyOf } from '../types'
import { useAction } from './action'
import { keys } from './keys'

type NewSchedule = BodyOf<'/api/v1/chats/{chat_id}/agents/{agent_id}/schedules', 'post'>
export type ScheduleChange = BodyOf<'/api/v1/schedules/{schedule_id}', 'patch'>

const scheduleParams = (id: string) => ({ params: { path: { schedule_id: id } } })

export const useSchedules = (agentId: string) =>
  useQuery({
    queryKey: [...keys.schedules, agentId],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          rest.GET('/api/v1/agents/{agent_id}/schedules', { params: { path: { agent_id: agentId } }, signal }),
        )
      ).results,
    staleTime: 0,
  })

/** The next times of an expression that is being written; an error may say what is wrong with it or with the time zone. */
export function useNextTimes(expression: string, timeZone: string) {
  const isComplete = expression !== '' && timeZone !== ''
  return useQuery({
    queryKey: [...keys.schedules, 'preview', expression, timeZone],
    queryFn: async ({ signal }) =>
      (await unwrap(rest.POST('/api/v1/schedules/preview', { body: { expression, time_zone: timeZone }, signal })))
        .next_times,
    enabled: isComplete,
    retry: false,
    placeholderData: previous => (isComplete ? previous : undefined),
  })
}

export const createSchedule = (chatId: string, agentId: string, body: NewSchedule) =>
  unwrap(
    rest.POST('/api/v1/chats/{chat_id}/agents/{agent_id}/schedules', {
      params: { path: { chat_id: chatId, agent_id: agentId } },
      body,
    }),
  )

export const changeSchedule = (id: string, body: ScheduleChange) =>
  unwrap(rest.PATCH('/api/v1/schedules/{schedule_id}', { ...scheduleParams(id), body }))

export const deleteSchedule = (id: string) => rest.DELETE('/api/v1/schedules/{schedule_id}', scheduleParams(id))

export const runScheduleNow = (id: string, messageId: string) =>
  unwrap(rest.POST('/api/v1/schedules/{schedule_id}/run', { ...scheduleParams(id), body: { id: messageId } }))

/** An action after which schedules are read again. */
export const useScheduleAction = <T>(action: (input: T) => Promise<unknown>) =>
  useAction({
    mutationFn: action,
    onSettled: (_result, _error, _input, _context, { client }) =>
      client.invalidateQueries({ queryKey: keys.schedules }),
  })
