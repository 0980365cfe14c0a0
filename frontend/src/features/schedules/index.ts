import { lazy } from '@/ui/lazy'

export const ScheduleTab = lazy(() => import('./ScheduleTab').then(module => ({ default: module.ScheduleTab })))
