/** The socket of this tab: keeps the connection open and follows topics. */
import type { ClientFrame, ServerFrame } from '@/api/types'
import { backoff } from './backoff'

/** `silent`: open, but a heartbeat is missing. `waiting`: closed, with an automatic reconnect at `retryAt` (ms). */
export type Connection =
  | { state: 'off' }
  | { state: 'connecting' }
  | { state: 'open' }
  | { state: 'silent' }
  | { state: 'waiting'; retryAt: number }

interface SocketEvents {
  onFrame(frame: ServerFrame): void
  onConnection(connection: Connection): void
  /** Called when the session has ended. */
  onSignedOut(): void
  /** Returns the version of a topic that is loaded; null if none is. */
  since(topic: string): number | null
}

/** The server sends a heartbeat every 10 s. When one is this late, the person is told, who can reconnect at once. */
const SILENCE_MS = 13_000
/** When two heartbeats are missing, the connection is dead. */
const HEARTBEAT_TIMEOUT_MS = 25_000

/** The close code of the server after the session ended. */
const SIGNED_OUT_CODE = 4003

export class RealtimeSocket {
  private socket: WebSocket | null = null
  private readonly subscriberCounts = new Map<string, number>()
  private attempt = 0
  private isStarted = false
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private heartbeatTimer: ReturnType<typeof setTimeout> | undefined
  private silenceTimer: ReturnType<typeof setTimeout> | undefined
  private isSilent = false

  constructor(
    private readonly url: () => string,
    private readonly events: SocketEvents,
  ) {}

  start(): void {
    if (this.isStarted) return
    this.isStarted = true
    this.connect()
  }

  stop(): void {
    this.isStarted = false
    clearTimeout(this.retryTimer)
    this.closeSocket()
    this.events.onConnection({ state: 'off' })
  }

  /** Reconnects now instead of at the end of the delay. */
  reconnectNow(): void {
    if (!this.isStarted || this.socket) return
    clearTimeout(this.retryTimer)
    this.connect()
  }

  /** Connects anew now, also while a connection is open that is silent, or an attempt is pending. */
  replaceConnection(): void {
    if (!this.isStarted) return
    clearTimeout(this.retryTimer)
    this.closeSocket()
    // Listeners learn that frames may be missing.
    this.events.onConnection({ state: 'waiting', retryAt: Date.now() })
    this.connect()
  }

  /** Subscribes to a topic until the returned function is called. Several callers share one subscription. */
  subscribe(topic: string): () => void {
    const count = this.subscriberCounts.get(topic) ?? 0
    this.subscriberCounts.set(topic, count + 1)
    if (count === 0) this.sendSubscribe(topic)
    return () => this.unsubscribe(topic)
  }

  isSubscribed(topic: string): boolean {
    return this.subscriberCounts.has(topic)
  }

  /** Requests the rows of a topic that changed since those in the store. */
  sendSubscribe(topic: string): void {
    this.send({ type: 'subscribe', topic, since: this.events.since(topic) })
  }

  /** Sends a frame if the socket is open. Returns whether it was sent. */
  send(frame: ClientFrame): boolean {
    const isOpen = this.socket?.readyState === WebSocket.OPEN
    if (isOpen) this.socket?.send(JSON.stringify(frame))
    return isOpen
  }

  private unsubscribe(topic: string): void {
    const count = (this.subscriberCounts.get(topic) ?? 1) - 1
    if (count > 0) {
      this.subscriberCounts.set(topic, count)
      return
    }
    this.subscriberCounts.delete(topic)
    this.send({ type: 'unsubscribe', topic })
  }

  private connect(): void {
    this.events.onConnection({ state: 'connecting' })
    const socket = new WebSocket(this.url())
    this.socket = socket
    socket.onopen = () => this.handleOpen()
    socket.onmessage = event => this.handleMessage(String(event.data))
    socket.onclose = event => this.handleClose(socket, event.code)
    this.resetHeartbeatTimer()
  }

  private handleOpen(): void {
    this.events.onConnection({ state: 'open' })
    for (const topic of this.subscriberCounts.keys()) this.sendSubscribe(topic)
  }

  private handleMessage(data: string): void {
    // Not in `handleOpen`: a server that closes each connection at once is requested with growing delays.
    this.attempt = 0
    if (this.isSilent) this.events.onConnection({ state: 'open' })
    this.resetHeartbeatTimer()
    this.silenceTimer = setTimeout(() => this.reportSilence(), SILENCE_MS)
    this.events.onFrame(JSON.parse(data) as ServerFrame)
  }

  private reportSilence(): void {
    this.isSilent = true
    this.events.onConnection({ state: 'silent' })
  }

  private resetHeartbeatTimer(): void {
    this.clearTimers()
    this.heartbeatTimer = setTimeout(() => this.reconnectLater(), HEARTBEAT_TIMEOUT_MS)
  }

  /** Closes the connection and schedules a reconnect. A dead connection may take minutes to close by itself. */
  reconnectLater(): void {
    const socket = this.socket
    if (!socket) return
    this.closeSocket()
    this.scheduleReconnect()
  }

  private clearTimers(): void {
    clearTimeout(this.heartbeatTimer)
    clearTimeout(this.silenceTimer)
    this.isSilent = false
  }

  private closeSocket(): void {
    this.clearTimers()
    const socket = this.socket
    this.socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  private handleClose(socket: WebSocket, code: number): void {
    if (this.socket !== socket) return
    this.closeSocket()
    if (code === SIGNED_OUT_CODE) this.events.onSignedOut()
    this.scheduleReconnect()
  }

  private scheduleReconnect(): void {
    if (!this.isStarted) return
    const delay = backoff(this.attempt++)
    this.events.onConnection({ state: 'waiting', retryAt: Date.now() + delay })
    this.retryTimer = setTimeout(() => this.connect(), delay)
  }
}
