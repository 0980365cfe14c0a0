import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Connection, LiveSocket } from './socket'

class FakeSocket {
  static made: FakeSocket[] = []
  readyState = 1
  isClosed = false
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: ((event: { code: number }) => void) | null = null
  constructor(readonly url: string) {
    FakeSocket.made.push(this)
  }
  send(): void {}
  close(): void {
    this.isClosed = true
  }
}

const states: Connection['state'][] = []
const opened = () => {
  const socket = new LiveSocket(() => 'ws://here/ws/', {
    onFrame: () => undefined,
    onConnection: connection => states.push(connection.state),
    onSignedOut: () => undefined,
    since: () => null,
  })
  socket.start()
  FakeSocket.made[0]?.onopen?.()
  return socket
}

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.made = []
  states.length = 0
  vi.stubGlobal('WebSocket', Object.assign(FakeSocket, { OPEN: 1 }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('a line that is dead', () => {
  it('is noticed when two heartbeats are missing, and another is tried', async () => {
    opened()
    for (let beat = 0; beat < 5; beat += 1) {
      await vi.advanceTimersByTimeAsync(10_000)
      FakeSocket.made[0]?.onmessage?.({ data: '{"type":"heartbeat","versions":{}}' })
    }
    expect(states).toEqual(['connecting', 'open'])
    await vi.advanceTimersByTimeAsync(25_000)
    expect(states).toEqual(['connecting', 'open', 'waiting'])
    expect(FakeSocket.made[0]?.isClosed).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(FakeSocket.made).toHaveLength(2)
  })

  it('is given up at once when the machine says that it is offline', () => {
    const socket = opened()
    socket.reconnectLater()
    expect(states.at(-1)).toBe('waiting')
    expect(FakeSocket.made[0]?.isClosed).toBe(true)
    socket.reconnectNow()
    expect(FakeSocket.made).toHaveLength(2)
  })
})

describe('what is followed', () => {
  it('is known as long as somebody follows it', () => {
    const socket = opened()
    const first = socket.follow('chat:1')
    const second = socket.follow('chat:1')
    first()
    expect(socket.isFollowed('chat:1')).toBe(true)
    second()
    expect(socket.isFollowed('chat:1')).toBe(false)
  })
})
