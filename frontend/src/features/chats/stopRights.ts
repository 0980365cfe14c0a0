/** Who may stop a run: the person it works for, the person who triggered it, and editors. The server applies the same rule. */
import type { RunRow } from '@/api'

export const canStop = (run: RunRow, me: string, isEditor: boolean): boolean =>
  isEditor || run.on_behalf_of === me || run.triggered_by === me
