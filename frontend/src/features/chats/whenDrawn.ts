/** How many frames an element is waited for: the list is measured while it is drawn. */
const FRAMES = 60

/** Call `act` with the element once `find` returns one. Give up after a second without it. */
export function runWhenRendered(find: () => HTMLElement | null | undefined, act: (element: HTMLElement) => void): void {
  let left = FRAMES
  const poll = () => {
    const element = find()
    if (element) act(element)
    else if (left-- > 0) requestAnimationFrame(poll)
  }
  poll()
}
