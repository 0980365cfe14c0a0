import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError, type DraftRow, type DraftWrite, defaultSpec, type SpecContent } from '@/api'
import { Autosave, type AutosaveState, type LostEdit, type UnsavedText } from './autosave'

const content = (prompt: string): SpecContent => ({ ...defaultSpec, prompt })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function startAutosave(answer: (write: DraftWrite) => Promise<DraftRow>) {
  const writes: DraftWrite[] = []
  const states: AutosaveState[] = []
  const browser: { unsaved: UnsavedText | null; lost: LostEdit[] } = { unsaved: null, lost: [] }
  const autosave = new Autosave(
    { content: content('start'), revision: 1, status: 'saved', problem: null, lost: null },
    {
      write: write => {
        writes.push(write)
        return answer(write)
      },
      onChange: state => states.push(state),
      onRow: () => undefined,
      onUnsavedChange: unsaved => {
        browser.unsaved = unsaved
      },
      onLost: lost => browser.lost.push(lost),
    },
  )
  return { autosave, writes, states, browser }
}

const acceptWrite = (write: DraftWrite) => Promise.resolve({ revision: (write.revision ?? 0) + 1 } as DraftRow)

describe('autosave', () => {
  it('stores the latest text once after a pause', async () => {
    const { autosave, writes } = startAutosave(acceptWrite)
    for (const text of ['a', 'ab', 'abc']) autosave.edit(content(text), text.length)
    await vi.advanceTimersByTimeAsync(400)
    expect(writes).toEqual([{ content: content('abc'), revision: 1, caret: 3 }])
    expect(autosave.current).toMatchObject({ revision: 2, status: 'saved' })
  })

  it('sends edits made during a request with the revision of its response', async () => {
    const { autosave, writes } = startAutosave(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return acceptWrite(write)
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

  it('EDIT2: keeps the text and sends nothing more when the lock is lost', async () => {
    const { autosave, writes } = startAutosave(() =>
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

  it('EDIT2: stores edits again after a restart from the current draft', async () => {
    let isStale = true
    const { autosave, writes } = startAutosave(write =>
      isStale ? Promise.reject(new ApiError(409, 'stale_revision', '')) : acceptWrite(write),
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

  it('retries when the server does not respond', async () => {
    let isDown = true
    const { autosave } = startAutosave(write =>
      isDown ? Promise.reject(new ApiError(0, 'unreachable', '')) : acceptWrite(write),
    )
    autosave.edit(content('kept'))
    await vi.advanceTimersByTimeAsync(500)
    expect(autosave.current.status).toBe('retrying')
    isDown = false
    await vi.advanceTimersByTimeAsync(2_000)
    expect(autosave.current).toMatchObject({ status: 'saved', content: content('kept') })
  })

  it('flush stores all edits and returns the new revision', async () => {
    const { autosave, writes } = startAutosave(acceptWrite)
    autosave.edit(content('now'))
    expect(await autosave.flush()).toBe(2)
    expect(writes).toHaveLength(1)
  })

  it('adopts a newer text from another tab only while nothing is unsaved here', async () => {
    const { autosave } = startAutosave(acceptWrite)
    autosave.adopt(content('theirs'), 5)
    expect(autosave.current).toMatchObject({ content: content('theirs'), revision: 5 })
    autosave.edit(content('mine'))
    autosave.adopt(content('other'), 9)
    expect(autosave.current.content).toEqual(content('mine'))
  })

  it('EDIT2: reports the unsaved text and the text in flight until they are stored', async () => {
    const { autosave, browser } = startAutosave(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return acceptWrite(write)
    })
    autosave.edit(content('one'))
    expect(browser.unsaved).toEqual({ content: content('one'), revision: 1, sent: null })
    await vi.advanceTimersByTimeAsync(500)
    autosave.edit(content('two'))
    expect(browser.unsaved).toEqual({ content: content('two'), revision: 1, sent: content('one') })
    await vi.advanceTimersByTimeAsync(4_000)
    expect(browser.unsaved).toBeNull()
  })

  it('EDIT2: reports no unsaved text when the last request succeeds after stop', async () => {
    const { autosave, browser } = startAutosave(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return acceptWrite(write)
    })
    autosave.edit(content('last edit'))
    void autosave.flush()
    autosave.stop()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(browser.unsaved).toBeNull()
  })

  it('EDIT2: stores also the last edits when it is stopped during a request', async () => {
    const { autosave, writes, browser } = startAutosave(async write => {
      await new Promise(done => setTimeout(done, 1_000))
      return acceptWrite(write)
    })
    autosave.edit(content('one'))
    await vi.advanceTimersByTimeAsync(500)
    autosave.edit(content('two'))
    void autosave.flush()
    autosave.stop()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(writes.map(write => write.content)).toEqual([content('one'), content('two')])
    expect(browser.unsaved).toBeNull()
  })

  it('EDIT2: reports a lost text once when the last request fails after stop', async () => {
    const { autosave, browser } = startAutosave(() => Promise.reject(new ApiError(409, 'no_draft', '')))
    autosave.edit(content('last edit'))
    void autosave.flush()
    autosave.stop()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(browser.lost).toEqual([{ content: content('last edit'), code: 'no_draft', by: null }])
  })

  it('stays refused until the next edit when the server rejects the text itself', async () => {
    const { autosave, browser } = startAutosave(write =>
      write.content?.prompt === 'too long' ? Promise.reject(new ApiError(413, 'too_large', '')) : acceptWrite(write),
    )
    autosave.edit(content('too long'))
    expect(await autosave.flush()).toBeNull()
    expect(autosave.current).toMatchObject({ status: 'refused', problem: 'too_large', lost: null })
    expect(browser.unsaved?.content).toEqual(content('too long'))
    autosave.edit(content('short'))
    await vi.advanceTimersByTimeAsync(400)
    expect(autosave.current).toMatchObject({ status: 'saved', problem: null, revision: 2 })
  })
})
