/** CodeMirror in a shadow tree: there it uses adopted style sheets, which the CSP allows; in the page it would inject a style tag. */
import { useEffect, useRef } from 'react'

/** Mounts something into the shadow root of a host element, anew whenever `mount` is another function. */
export function useShadowRoot(mount: (root: ShadowRoot) => () => void) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!host.current) return
    return mount(host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' }))
  }, [mount])
  return host
}
