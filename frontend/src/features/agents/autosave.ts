/** Writing a draft: every pause is stored, one request at a time; what cannot be stored is never thrown away. */
import { ApiError, type DraftRow, type DraftWrite, type ErrorCode, type SpecContent } from '@/api'

/** `lock_expired`: the time to write ran out before it could be stored. */
export type LostCode = ErrorCode | 'lock_expired'

export interface Lost {
  content: SpecContent
  code: LostCode
  /** Who has the lock now, where the server named them. */
  by: string | null
}

export interface AutosaveState {
  content: SpecContent
  revision: number
  /** `retrying`: no answer came; it is tried again. `refused`: it cannot be stored as it is; the next edit is tried again. */
  status: 'saved' | 'dirty' | 'saving' | 'retrying' | 'refused'
  /** Why it was refused. */
  problem: ErrorCode | null
  lost: Lost | null
}

/** What is not stored yet, to be kept in this browser; `sent` is on its way, or was when the page went. */
export interface Unstored {
  content: SpecContent
  revision: number
  sent: SpecContent | null
}

interface AutosaveCallbacks {
  write(write: DraftWrite): Promise<DraftRow>
  onChange(state: AutosaveState): void
  /** Called whenever what is not stored changes, also after `stop`; null when all of it is. */
  onUnstored(unstored: Unstored | null): void
  /** Called once with a text that cannot be stored any more, also after `stop`. */
  onLost(lost: Lost): void
  /** Called with every row that the server answered. */
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

  /** A newer text by the same person, from another tab: taken over unless something was typed here meanwhile. */
  adopt(content: SpecContent, revision: number): void {
    if (revision <= this.state.revision || this.state.status !== 'saved') return
    this.change({ content, revision })
  }

  /** The revision after everything typed is stored; null when it could not be. */
  async flush(): Promise<number | null> {
    clearTimeout(this.timer)
    while (!this.isStopped && (this.sending || this.state.status !== 'saved')) {
      await (this.sending ?? this.send())
      if (this.state.status === 'retrying' || this.state.status === 'refused' || this.state.lost) return null
    }
    return this.state.lost ? null : this.state.revision
  }

  /** The lock was lost. Keep what is not stored yet for its writer. */
  lose(code: LostCode, by: string | null): void {
    clearTimeout(this.timer)
    if (this.state.lost || this.state.status === 'saved') return
    const lost = { content: this.state.content, code, by }
    this.change({ status: 'dirty', lost })
    this.callbacks.onLost(lost)
  }

  /** Goes on from what is stored now, after a text was lost: without this, what is typed next would be stored nowhere. */
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
    this.sending ??= this.deliver().finally(() => {
      this.sending = null
    })
    return this.sending
  }

  private async deliver(): Promise<void> {
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
      this.failed(error)
    }
  }

  private failed(error: unknown): void {
    const problem = error instanceof ApiError ? error : new ApiError(0, 'refused', String(error))
    // `sent` stays: without an answer nobody knows whether it arrived.
    if (isTemporary(problem)) {
      this.change({ status: 'retrying' })
      this.schedule(this.callbacks.retryMs ?? 2_000)
      return
    }
    this.sent = null
    if (isInvalidText(problem)) this.change({ status: 'refused', problem: problem.code })
    else {
      const by = problem.data['lock_holder_name']
      this.lose(problem.code, typeof by === 'string' ? by : null)
    }
  }

  private change(change: Partial<AutosaveState>): void {
    this.state = { ...this.state, ...change }
    const { content, revision, status, lost } = this.state
    this.callbacks.onUnstored(status === 'saved' || lost ? null : { content, revision, sent: this.sent })
    if (!this.isStopped) this.callbacks.onChange(this.state)
  }
}

const isTemporary = ({ status }: ApiError) => status === 0 || status >= 500 || status === 429
/** The server refused the text itself, so its writer can correct it. */
const isInvalidText = ({ code }: ApiError) => code === 'too_large' || code === 'invalid' || code === 'unsupported'
