import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, type DraftRow, type DraftWrite, type SpecContent } from '@/api'
import { Autosave, type AutosaveState, type Lost, type Unstored } from './autosave'

const content = (prompt: string): SpecContent => ({
  prompt,
  model: '',
  parameters: { temperature: null, top_p: null, max_tokens: null },
  limits: { max_steps: 10, max_seconds: 1800 },
  memory: 'chat',
  tools: [],
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function session(answer: (write: DraftWrite) => Promise<DraftRow>) {
  const writes: DraftWrite[] = []
  const states: AutosaveState[] = []
  const browser: { unstored: Unstored | null; lost: Lost[] } = { unstored: null, lost: [] }
  const autosave = new Autosave(
    { content: content('start'), revision: 1, status: 'saved', problem: null, lost: null },
    {
      write: write => {
        writes.push(write)
        return answer(write)
      },
      onChange: state => states.push(state),
      onRow: () => undefined,
      onUnstored: unstored => {
        browser.unstored = unstored
      },
      onLost: lost => browser.lost.push(lost),
    },
  )
  return { autosave, writes, states, browser }
}

const accepted = (write: DraftWrite) => Promise.resolve({ revision: (write.revision ?? 0) + 1 } as DraftRow)

describe('autosave', () => {
  it('stores the last text after a pause, once', async () => {
    const { autosave, writes } = session(accepted)
    for (const text of ['a', 'ab', 'abc']) autosave.edit(content(text), text.length)
    await vi.advanceTimersByTimeAsync(400)
    expect(writes).toEqual([{ content: content('abc'), revision: 1, caret: 3 }])
    expect(autosave.current).toMatchObject({ revision: 2, status: 'saved' })
  })

  it('sends what was typed during a request on top of its revision', async () => {
    const { autosave, writes } = session(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return accepted(write)
    })
    autosave.edit(content('one'))
    await vi.advanceTimersByTimeAsync(500)
    autosave.edit(content('two'))
    await vi.advanceTimersByTimeAsync(3_000)
    expect(writes.map(write => [write.content?.prompt, write.revision])).toEqual([
      ['one', 1],
      ['two', 2],
    ])
    expect(autosave.current).toMatchObject({ revision: 3, status: 'saved' })
  })

  it('EDIT2: keeps the text when the lock is lost, and stores nothing more', async () => {
    const { autosave, writes } = session(() =>
      Promise.reject(new ApiError(409, 'draft_locked', '', [], { lock_holder_name: 'Bob' })),
    )
    autosave.edit(content('mine'))
    await vi.advanceTimersByTimeAsync(400)
    expect(autosave.current.lost).toEqual({ content: content('mine'), code: 'draft_locked', by: 'Bob' })
    autosave.edit(content('more'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(writes).toHaveLength(1)
    expect(await autosave.flush()).toBeNull()
  })

  it('EDIT2: stores again what is typed after a lost text, once begun anew', async () => {
    let isStale = true
    const { autosave, writes } = session(write =>
      isStale ? Promise.reject(new ApiError(409, 'stale_revision', '')) : accepted(write),
    )
    autosave.edit(content('mine'))
    await vi.advanceTimersByTimeAsync(400)
    isStale = false
    autosave.restart(content('theirs'), 7)
    autosave.edit(content('theirs and mine'))
    await vi.advanceTimersByTimeAsync(400)
    expect(writes.at(-1)).toMatchObject({ content: content('theirs and mine'), revision: 7 })
    expect(autosave.current).toMatchObject({ status: 'saved', revision: 8, lost: null })
  })

  it('tries again when nobody answers', async () => {
    let isDown = true
    const { autosave } = session(write =>
      isDown ? Promise.reject(new ApiError(0, 'unreachable', '')) : accepted(write),
    )
    autosave.edit(content('kept'))
    await vi.advanceTimersByTimeAsync(500)
    expect(autosave.current.status).toBe('retrying')
    isDown = false
    await vi.advanceTimersByTimeAsync(2_000)
    expect(autosave.current).toMatchObject({ status: 'saved', content: content('kept') })
  })

  it('flush waits for everything and returns the revision to act on', async () => {
    const { autosave, writes } = session(accepted)
    autosave.edit(content('now'))
    expect(await autosave.flush()).toBe(2)
    expect(writes).toHaveLength(1)
  })

  it('takes over a newer text from another tab only while nothing is unsaved here', async () => {
    const { autosave } = session(accepted)
    autosave.adopt(content('theirs'), 5)
    expect(autosave.current).toMatchObject({ content: content('theirs'), revision: 5 })
    autosave.edit(content('mine'))
    autosave.adopt(content('other'), 9)
    expect(autosave.current.content).toEqual(content('mine'))
  })

  it('EDIT2: keeps in the browser what is typed until it is stored, and what was on its way', async () => {
    const { autosave, browser } = session(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return accepted(write)
    })
    autosave.edit(content('one'))
    expect(browser.unstored).toEqual({ content: content('one'), revision: 1, sent: null })
    await vi.advanceTimersByTimeAsync(500)
    autosave.edit(content('two'))
    expect(browser.unstored).toEqual({ content: content('two'), revision: 1, sent: content('one') })
    await vi.advanceTimersByTimeAsync(4_000)
    expect(browser.unstored).toBeNull()
  })

  it('EDIT2: what is stored after the panel was closed is not kept as unstored', async () => {
    const { autosave, browser } = session(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return accepted(write)
    })
    autosave.edit(content('last words'))
    void autosave.flush()
    autosave.stop()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(browser.unstored).toBeNull()
  })

  it('EDIT2: what is lost after the panel was closed is set aside, once', async () => {
    const { autosave, browser } = session(() => Promise.reject(new ApiError(409, 'no_draft', '')))
    autosave.edit(content('last words'))
    void autosave.flush()
    autosave.stop()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(browser.lost).toEqual([{ content: content('last words'), code: 'no_draft', by: null }])
  })

  it('goes on with a text that the server refuses for what it says', async () => {
    const { autosave, browser } = session(write =>
      write.content?.prompt === 'too long' ? Promise.reject(new ApiError(413, 'too_large', '')) : accepted(write),
    )
    autosave.edit(content('too long'))
    expect(await autosave.flush()).toBeNull()
    expect(autosave.current).toMatchObject({ status: 'refused', problem: 'too_large', lost: null })
    expect(browser.unstored?.content).toEqual(content('too long'))
    autosave.edit(content('short'))
    await vi.advanceTimersByTimeAsync(400)
    expect(autosave.current).toMatchObject({ status: 'saved', problem: null, revision: 2 })
  })
})
