/** Maximal number of animation frames to wait for an element: the virtual list measures items while it renders them. */
const MAX_FRAMES = 60

/** Calls `act` with the element once `find` returns one. Gives up after `MAX_FRAMES`. */
export function runWhenRendered(find: () => HTMLElement | null | undefined, act: (element: HTMLElement) => void): void {
  let remaining = MAX_FRAMES
  const poll = () => {
    const element = find()
    if (element) act(element)
    else if (remaining-- > 0) requestAnimationFrame(poll)
  }
  poll()
}
