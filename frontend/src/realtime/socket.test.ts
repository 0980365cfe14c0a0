import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Connection, RealtimeSocket } from './socket'

class FakeSocket {
  static instances: FakeSocket[] = []
  readyState = 1
  isClosed = false
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: ((event: { code: number }) => void) | null = null
  constructor(readonly url: string) {
    FakeSocket.instances.push(this)
  }
  send(): void {}
  close(): void {
    this.isClosed = true
  }
}

const states: Connection['state'][] = []
const openSocket = () => {
  const socket = new RealtimeSocket(() => 'ws://here/ws/', {
    onFrame: () => undefined,
    onConnection: connection => states.push(connection.state),
    onSignedOut: () => undefined,
    since: () => null,
  })
  socket.start()
  FakeSocket.instances[0]?.onopen?.()
  return socket
}

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.instances = []
  states.length = 0
  vi.stubGlobal('WebSocket', Object.assign(FakeSocket, { OPEN: 1 }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('a dead connection', () => {
  it('is detected after two missing heartbeats and replaced', async () => {
    openSocket()
    for (let beat = 0; beat < 5; beat += 1) {
      await vi.advanceTimersByTimeAsync(10_000)
      FakeSocket.instances[0]?.onmessage?.({ data: '{"type":"heartbeat","versions":{}}' })
    }
    expect(states).toEqual(['connecting', 'open'])
    await vi.advanceTimersByTimeAsync(25_000)
    expect(states).toEqual(['connecting', 'open', 'silent', 'waiting'])
    expect(FakeSocket.instances[0]?.isClosed).toBe(true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(FakeSocket.instances).toHaveLength(2)
  })

  it('is reported while it is silent, and replaced when the person wants it', async () => {
    const socket = openSocket()
    const [first] = FakeSocket.instances
    first?.onmessage?.({ data: '{"type":"heartbeat","versions":{}}' })
    await vi.advanceTimersByTimeAsync(14_000)
    first?.onmessage?.({ data: '{"type":"heartbeat","versions":{}}' })
    expect(states).toEqual(['connecting', 'open', 'silent', 'open'])
    await vi.advanceTimersByTimeAsync(14_000)
    socket.replaceConnection()
    expect(first?.isClosed).toBe(true)
    expect(states.slice(4)).toEqual(['silent', 'waiting', 'connecting'])
    // Also while the server accepts the connection and does not answer.
    socket.replaceConnection()
    expect(FakeSocket.instances.map(({ isClosed }) => isClosed)).toEqual([true, true, false])
  })

  it('is closed at once when the browser is offline', () => {
    const socket = openSocket()
    socket.reconnectLater()
    expect(states.at(-1)).toBe('waiting')
    expect(FakeSocket.instances[0]?.isClosed).toBe(true)
    socket.reconnectNow()
    expect(FakeSocket.instances).toHaveLength(2)
  })
})

describe('a topic', () => {
  it('is followed until the last follower leaves', () => {
    const socket = openSocket()
    const first = socket.subscribe('chat:1')
    const second = socket.subscribe('chat:1')
    first()
    expect(socket.isSubscribed('chat:1')).toBe(true)
    second()
    expect(socket.isSubscribed('chat:1')).toBe(false)
  })
})
