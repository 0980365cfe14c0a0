/** Locks that the tabs of this browser share, by which they know of each other. */

const viewedChat = (chatId: string) => `atelier.viewed.${chatId}`

/**
 * Requests a lock, and holds it from then on. `exclusive`: only one tab holds it, the next one when that tab is closed. Returns
 * the function that releases it.
 */
function hold(name: string, mode: LockMode, onHeld?: () => void): () => void {
  const request = new AbortController()
  let release = () => request.abort()
  const held = () => {
    onHeld?.()
    return new Promise<void>(resolve => {
      release = resolve
    })
  }
  navigator.locks.request(name, { mode, signal: request.signal }, held).catch(() => undefined)
  return () => release()
}

/** Calls `onChosen` once this tab is the one that shows notifications. Returns the function that leaves it to another tab. */
export const becomeNotifier = (personId: string, onChosen: () => void) =>
  hold(`atelier.notifier.${personId}`, 'exclusive', onChosen)

/** Lets all tabs know that a chat is in view, while this tab is visible. Returns the function that ends it. */
export function announceViewedChat(chatId: string): () => void {
  let release: (() => void) | null = null
  const end = () => {
    release?.()
    release = null
  }
  const follow = () => {
    if (document.visibilityState === 'hidden') end()
    else release ??= hold(viewedChat(chatId), 'shared')
  }
  follow()
  document.addEventListener('visibilitychange', follow)
  return () => {
    document.removeEventListener('visibilitychange', follow)
    end()
  }
}

/** Returns whether a tab that is visible shows this chat. */
export async function isChatInView(chatId: string): Promise<boolean> {
  const { held = [] } = await navigator.locks.query()
  return held.some(lock => lock.name === viewedChat(chatId))
}
