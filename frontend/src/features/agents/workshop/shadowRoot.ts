/** Mounts CodeMirror in a shadow tree, where it uses adopted style sheets, which the CSP allows, instead of a style tag. */
import { useEffect, useRef } from 'react'

/** Calls `mount` with the shadow root of the host element, again whenever `mount` changes. Returns the ref for the host. */
export function useShadowRoot(mount: (root: ShadowRoot) => () => void) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!host.current) return
    return mount(host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' }))
  }, [mount])
  return host
}
