import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from '@/api'
import { answerRequests, listChanges } from '@/testing/restServer'
import { addUpload, cancelUpload, listUploads, startUpload } from './uploads'

/** The upload request, which the test answers. */
class UploadRequest extends EventTarget {
  static last: UploadRequest
  readonly upload = new EventTarget()
  status = 0
  responseText = ''
  isAborted = false
  isSent = false

  constructor() {
    super()
    UploadRequest.last = this
  }
  open() {}
  setRequestHeader() {}
  getResponseHeader = () => 'application/json'
  send() {
    this.isSent = true
  }
  abort() {
    this.isAborted = true
    this.dispatchEvent(new Event('abort'))
  }
  report(loaded: number, total: number) {
    this.upload.dispatchEvent(new ProgressEvent('progress', { loaded, total }))
  }
  answer(status: number) {
    Object.assign(this, { status, responseText: '{}' })
    this.dispatchEvent(new Event('load'))
  }
  fail() {
    this.dispatchEvent(new Event('error'))
  }
}

const target = { workspaceId: 'w' }

/** Starts an upload to a workspace. Returns its id, the request, and whether it is done. */
async function start() {
  const id = addUpload(target, new File(['text'], 'notes.txt'))
  const done = startUpload(id)
  await vi.waitFor(() => expect(UploadRequest.last?.isSent).toBe(true))
  return { id, request: UploadRequest.last, done }
}

function setUp() {
  vi.stubGlobal('XMLHttpRequest', UploadRequest)
  return answerRequests(() => [404, { error: { code: 'not_found', message: 'There is no such file.' } }])
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it('deletes the file of a failed upload that is removed: the server may have stored it', async () => {
  const requests = setUp()
  const { id, request, done } = await start()
  request.fail()
  expect(await done).toBe(false)
  expect(listUploads(target)).toMatchObject([{ id, state: 'failed', error: expect.any(ApiError) }])
  expect(requests).toEqual([])
  cancelUpload(id)
  expect(listUploads(target)).toEqual([])
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([[`DELETE /files/${id}`, null]]))
})

it('aborts an upload that is removed while it is sent, and deletes what an earlier attempt has stored', async () => {
  const requests = setUp()
  const { id, request, done } = await start()
  request.report(1, 2)
  cancelUpload(id)
  expect(request.isAborted).toBe(true)
  expect(await done).toBe(false)
  expect(listUploads(target)).toEqual([])
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([[`DELETE /files/${id}`, null]]))
})

it.each([
  ['stores the file', (request: UploadRequest) => request.answer(201)],
  ['sends no answer', (request: UploadRequest) => request.fail()],
])('deletes the file of an upload that was removed when all was sent, after the server %s', async (_, end) => {
  const requests = setUp()
  const { id, request, done } = await start()
  request.report(2, 2)
  cancelUpload(id)
  expect(listUploads(target)).toEqual([])
  expect(request.isAborted).toBe(false)
  expect(requests).toEqual([])
  end(request)
  expect(await done).toBe(false)
  await vi.waitFor(() => expect(listChanges(requests)).toEqual([[`DELETE /files/${id}`, null]]))
})

it('keeps the file of an upload that is not removed', async () => {
  const requests = setUp()
  const { id, request, done } = await start()
  request.answer(201)
  expect(await done).toBe(true)
  expect(listUploads(target)).toMatchObject([{ id, state: 'ready' }])
  expect(requests).toEqual([])
})
