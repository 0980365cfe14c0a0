/** A socket server for component tests, in place of the network. */
import { vi } from 'vitest'
import type { ClientFrame, ServerFrame } from '@/api/types'
import { connection, resubscribe, startRealtime, stopRealtime } from '@/realtime'

type Subscribed = Extract<ServerFrame, { type: 'subscribed' }>

/**
 * Opens the socket and loads the chat `c` with these rows. `present`: the people who have the chat open; `hasOlder`: whether
 * there are older messages.
 */
export async function loadChat(
  rows: Subscribed['rows'],
  present: readonly string[] = [],
  hasOlder = false,
): Promise<void> {
  const build = (topic: string): Subscribed => ({
    ...{ type: 'subscribed', topic, version: 1, snapshot: true, has_older: hasOlder, partials: [] },
    rows,
    present: [...present],
  })
  class ServerSocket {
    static readonly OPEN = 1
    readonly readyState = ServerSocket.OPEN
    onopen: (() => void) | null = null
    onmessage: ((event: { data: string }) => void) | null = null

    constructor() {
      queueMicrotask(() => this.onopen?.())
    }

    send(text: string) {
      const frame = JSON.parse(text) as ClientFrame
      if (frame.type === 'subscribe') this.onmessage?.({ data: JSON.stringify(build(frame.topic)) })
    }

    close() {}
  }
  vi.stubGlobal('WebSocket', ServerSocket)
  startRealtime()
  await vi.waitFor(() => {
    if (connection.get().state !== 'open') throw new Error('The socket is not open yet.')
  })
  resubscribe('chat:c')
}

/** Closes the socket and clears the store. */
export function closeChat(): void {
  stopRealtime()
  vi.unstubAllGlobals()
}
