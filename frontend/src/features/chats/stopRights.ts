/** Who may stop a run: the person it works for, the person who set it off, and editors. The server decides by the same rule. */
import type { RunRow } from '@/api'

export const canStop = (run: RunRow, me: string, isEditor: boolean): boolean =>
  isEditor || run.on_behalf_of === me || run.triggered_by === me
