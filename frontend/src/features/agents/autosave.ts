/** Autosave of a draft: stores the text after each pause, one request at a time. Reports a text that cannot be stored. */
import { ApiError, type DraftRow, type DraftWrite, type ErrorCode, type SpecContent } from '@/api'

/** `lock_expired`: the edit lock expired before the text could be stored. */
export type LostCode = ErrorCode | 'lock_expired'

export interface LostEdit {
  content: SpecContent
  code: LostCode
  /** The name of the current lock holder, if the server sent it. */
  by: string | null
}

export interface AutosaveState {
  content: SpecContent
  revision: number
  /** `retrying`: the request failed and is repeated. `refused`: the server rejected the text; the next edit is sent. */
  status: 'saved' | 'dirty' | 'saving' | 'retrying' | 'refused'
  /** The error code while `refused`. */
  problem: ErrorCode | null
  lost: LostEdit | null
}

/** A text that is not stored yet, to be kept in this browser. `sent` is the text of the last request whose outcome is unknown. */
export interface UnsavedText {
  content: SpecContent
  revision: number
  sent: SpecContent | null
}

interface AutosaveCallbacks {
  write(write: DraftWrite): Promise<DraftRow>
  onChange(state: AutosaveState): void
  /** Called whenever the unsaved text changes, also after `stop`; null when everything is stored. */
  onUnsavedChange(unsaved: UnsavedText | null): void
  /** Called once with a text that can no longer be stored, also after `stop`. */
  onLost(lost: LostEdit): void
  /** Called with the row of every response. */
  onRow(row: DraftRow): void
  pauseMs?: number
  retryMs?: number
}

export class Autosave {
  private timer: ReturnType<typeof setTimeout> | undefined
  private sending: Promise<void> | null = null
  private caret: number | undefined
  private isStopped = false
  private sent: SpecContent | null = null

  constructor(
    private state: AutosaveState,
    private readonly callbacks: AutosaveCallbacks,
  ) {}

  get current(): AutosaveState {
    return this.state
  }

  edit(content: SpecContent, caret?: number): void {
    if (this.state.lost) return
    this.caret = caret
    this.change({ content, status: 'dirty', problem: null })
    this.schedule(this.callbacks.pauseMs ?? 400)
  }

  /** Adopts a newer text of the same person from another tab, unless there are unsaved edits here. */
  adopt(content: SpecContent, revision: number): void {
    if (revision <= this.state.revision || this.state.status !== 'saved') return
    this.change({ content, revision })
  }

  /** Stores all edits. Returns the revision, or null when they could not be stored. */
  async flush(): Promise<number | null> {
    clearTimeout(this.timer)
    while (this.sending || this.state.status !== 'saved') {
      await (this.sending ?? this.send())
      if (this.state.status === 'retrying' || this.state.status === 'refused' || this.state.lost) return null
    }
    return this.state.lost ? null : this.state.revision
  }

  /** Marks the unsaved text as lost: the edit lock was lost, or the server refused the write for good. */
  markLost(code: LostCode, by: string | null): void {
    clearTimeout(this.timer)
    if (this.state.lost || this.state.status === 'saved') return
    const lost = { content: this.state.content, code, by }
    this.change({ status: 'dirty', lost })
    this.callbacks.onLost(lost)
  }

  /** Resumes from the stored draft after a text was lost; until then, edits are ignored. */
  restart(content: SpecContent, revision: number): void {
    if (!this.state.lost) return
    this.change({ content, revision, status: 'saved', problem: null, lost: null })
  }

  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer)
    if (this.isStopped) return
    this.timer = setTimeout(() => void this.send(), ms)
  }

  private send(): Promise<void> {
    this.sending ??= this.sendCurrent().finally(() => {
      this.sending = null
    })
    return this.sending
  }

  private async sendCurrent(): Promise<void> {
    const { content, revision } = this.state
    this.sent = content
    this.change({ status: 'saving' })
    try {
      const row = await this.callbacks.write({
        content,
        revision,
        ...(this.caret === undefined ? {} : { caret: this.caret }),
      })
      this.sent = null
      const isLatest = this.state.content === content
      this.change({ revision: row.revision, status: isLatest ? 'saved' : 'dirty' })
      this.callbacks.onRow(row)
      if (!isLatest) this.schedule(this.callbacks.pauseMs ?? 400)
    } catch (error) {
      this.handleError(error)
    }
  }

  private handleError(error: unknown): void {
    const problem = error instanceof ApiError ? error : new ApiError(0, 'refused', String(error))
    // `sent` stays set: without a response it is unknown whether the request arrived.
    if (isTemporary(problem)) {
      this.change({ status: 'retrying' })
      this.schedule(this.callbacks.retryMs ?? 2_000)
      return
    }
    this.sent = null
    if (isInvalidText(problem)) this.change({ status: 'refused', problem: problem.code })
    else {
      const by = problem.data['lock_holder_name']
      this.markLost(problem.code, typeof by === 'string' ? by : null)
    }
  }

  private change(change: Partial<AutosaveState>): void {
    this.state = { ...this.state, ...change }
    const { content, revision, status, lost } = this.state
    this.callbacks.onUnsavedChange(status === 'saved' || lost ? null : { content, revision, sent: this.sent })
    if (!this.isStopped) this.callbacks.onChange(this.state)
  }
}

const isTemporary = ({ status }: ApiError) => status === 0 || status >= 500 || status === 429
/** The server rejected the text itself, so that the writer can correct it. */
const isInvalidText = ({ code }: ApiError) => code === 'too_large' || code === 'invalid' || code === 'unsupported'
