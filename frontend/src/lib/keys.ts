/** The keyboard: names of keys for the platform, and what counts as writing. */
export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

/** "Ctrl K" or "⌘K". */
export const chord = (key: string) => (isMac ? `⌘${key}` : `Ctrl ${key}`)

export const hasModifier = (event: { ctrlKey: boolean; metaKey: boolean }) => (isMac ? event.metaKey : event.ctrlKey)

/** Single letters act only outside text fields. The editor lives in a shadow tree, so the real target is asked for. */
export function isWriting(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0]
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Enter that ends an input method's word is not meant for us. */
export const isComposing = (event: { nativeEvent: KeyboardEvent }) =>
  event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229

/** Where it is kept whether single letters act: they can be turned off in the list of keys. */
export const LETTERS = 'atelier.letters'
