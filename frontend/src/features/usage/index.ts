import { lazy } from '@/ui/lazy'

export { formatAmount, getRefusedAmounts, isStillUsedUp } from './budgets'

export const UsagePage = lazy(() => import('./UsagePage').then(module => ({ default: module.UsagePage })))
export const BudgetSettings = lazy(() =>
  import('./BudgetSettings').then(module => ({ default: module.BudgetSettings })),
)
export const CallsDialog = lazy(() => import('./CallsDialog').then(module => ({ default: module.CallsDialog })))
