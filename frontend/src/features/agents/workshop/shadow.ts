/** CodeMirror in a shadow tree: there it uses adopted style sheets, which the CSP allows; in the page it would inject a style tag. */
import { useEffect, useRef } from 'react'

/** Mounts something into a shadow root that lives as long as its host element. */
export function useShadow(mount: (root: ShadowRoot) => () => void, dependencies: readonly unknown[]) {
  const host = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says when to mount anew
  useEffect(() => {
    if (!host.current) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    return mount(root)
  }, dependencies)
  return host
}
