/** The plan that a person writes, kept per chat as the text of the composer is, also while its form is closed. */
import { useCallback, useState } from 'react'
import { readStored, writeStored } from '@/lib/storage'
import { isEmptyPlan, newPlan, newTask, type Plan, type PlannedTask } from './plan'

const storageKey = (chatId: string) => `atelier.plan.${chatId}`

/** A plan that an earlier version of the app has stored may lack fields. */
function readPlan(chatId: string): Plan {
  const plan = { ...newPlan(), ...readStored<Partial<Plan>>(storageKey(chatId), {}) }
  return { ...plan, tasks: plan.tasks.map((task: Partial<PlannedTask>) => ({ ...newTask(), ...task })) }
}

export function usePlanDraft(chatId: string): [Plan, (plan: Plan) => void] {
  const [plan, setPlan] = useState(() => readPlan(chatId))
  const write = useCallback(
    (next: Plan) => {
      setPlan(next)
      writeStored(storageKey(chatId), isEmptyPlan(next) ? null : next)
    },
    [chatId],
  )
  return [plan, write]
}

/** Forgets the plan of a chat, which was started. */
export const forgetPlanDraft = (chatId: string) => writeStored(storageKey(chatId), null)
