/** Writing a draft: every pause is stored, one request at a time; what cannot be stored is never thrown away. */
import { ApiError, type DraftRow, type DraftWrite, type ErrorCode, type SpecContent } from '@/api'

export interface Lost {
  content: SpecContent
  code: ErrorCode
  /** Who holds the draft now, when the server said so. */
  by: string | null
}

export interface AutosaveState {
  content: SpecContent
  revision: number
  /** `retrying`: no answer came; it is tried again, and the text is kept in this browser. */
  status: 'saved' | 'dirty' | 'saving' | 'retrying'
  lost: Lost | null
}

interface AutosaveParts {
  write(write: DraftWrite): Promise<DraftRow>
  onChange(state: AutosaveState): void
  /** Called with every row that the server answered. */
  onRow(row: DraftRow): void
  pauseMs?: number
  retryMs?: number
}

export class Autosave {
  private timer: ReturnType<typeof setTimeout> | undefined
  private sending: Promise<void> | null = null
  private caret: number | undefined
  private over = false

  constructor(
    private state: AutosaveState,
    private readonly parts: AutosaveParts,
  ) {}

  get current(): AutosaveState {
    return this.state
  }

  edit(content: SpecContent, caret?: number): void {
    if (this.state.lost) return
    this.caret = caret
    this.change({ content, status: 'dirty' })
    this.plan(this.parts.pauseMs ?? 400)
  }

  /** A newer text by the same person, from another tab: taken over unless something was typed here meanwhile. */
  adopt(content: SpecContent, revision: number): void {
    if (revision <= this.state.revision || this.state.status !== 'saved') return
    this.change({ content, revision })
  }

  /** The revision after everything typed is stored; null when it could not be. */
  async flush(): Promise<number | null> {
    clearTimeout(this.timer)
    while (!this.over && (this.sending || this.state.status === 'dirty' || this.state.status === 'retrying')) {
      await (this.sending ?? this.send())
      if (this.state.status === 'retrying' || this.state.lost) return null
    }
    return this.state.lost ? null : this.state.revision
  }

  /** The hold is gone. What was not stored yet is kept aside for its writer. */
  lose(code: ErrorCode, by: string | null): void {
    clearTimeout(this.timer)
    if (this.state.lost || this.state.status === 'saved') return
    this.change({ lost: { content: this.state.content, code, by } })
  }

  /** Goes on from what is stored now, after a text was lost: without this, what is typed next would be stored nowhere. */
  restart(content: SpecContent, revision: number): void {
    if (!this.state.lost) return
    this.change({ content, revision, status: 'saved', lost: null })
  }

  stop(): void {
    this.over = true
    clearTimeout(this.timer)
  }

  private plan(ms: number): void {
    clearTimeout(this.timer)
    if (this.over) return
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
    this.change({ status: 'saving' })
    try {
      const row = await this.parts.write({
        content,
        revision,
        ...(this.caret === undefined ? {} : { caret: this.caret }),
      })
      const isWhole = this.state.content === content
      this.change({ revision: row.revision, status: isWhole ? 'saved' : 'dirty' })
      this.parts.onRow(row)
      if (!isWhole) this.plan(this.parts.pauseMs ?? 400)
    } catch (error) {
      this.failed(error)
    }
  }

  private failed(error: unknown): void {
    const problem = error instanceof ApiError ? error : new ApiError(0, 'refused', String(error))
    const isPassing = problem.status === 0 || problem.status >= 500 || problem.status === 429
    if (isPassing) {
      this.change({ status: 'retrying' })
      this.plan(this.parts.retryMs ?? 2_000)
      return
    }
    const by = problem.data['holder_name']
    this.change({
      status: 'dirty',
      lost: { content: this.state.content, code: problem.code, by: typeof by === 'string' ? by : null },
    })
  }

  private change(change: Partial<AutosaveState>): void {
    this.state = { ...this.state, ...change }
    if (!this.over) this.parts.onChange(this.state)
  }
}
