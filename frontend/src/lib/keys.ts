/** The keyboard: how keys are written for the platform, and which presses count. */
import { readStored } from './storage'

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

const symbols: Record<string, string> = {
  $mod: isMac ? '⌘' : 'Ctrl',
  Alt: isMac ? '⌥' : 'Alt',
  Shift: '⇧',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Enter: '↵',
  Tab: '⇥',
  Escape: 'Esc',
  Period: '.',
}

const symbolOf = (part: string) => symbols[part] ?? (part.length === 1 ? part.toUpperCase() : part)

/** The modifiers and the key of one press, as they are written; optional modifiers are left out. */
function symbolsOf(press: string): { modifiers: string; key: string } {
  const parts = press.split('+').filter(part => !part.startsWith('['))
  const gap = isMac ? '' : ' '
  const modifiers = parts.slice(0, -1).map(part => symbolOf(part) + gap)
  return { modifiers: modifiers.join(''), key: symbolOf(parts.at(-1) ?? '') }
}

/** Write key bindings of tinykeys for people: `['Alt+ArrowUp', 'Alt+ArrowDown']` → "Alt ↑ ↓", `['g c', 'g s']` → "G C  G S". */
export function formatKeys(bindings: readonly string[]): string {
  let text = ''
  let last = ''
  for (const binding of bindings) {
    if (binding.includes(' ')) {
      text += `${text && '  '}${binding.split(' ').map(symbolOf).join(' ')}`
      continue
    }
    const { modifiers, key } = symbolsOf(binding)
    if (!text) text = modifiers + key
    else text += modifiers === last ? ` ${key}` : `  ${modifiers}${key}`
    last = modifiers
  }
  return text
}

/** Single letters act only outside text fields. The editor lives in a shadow tree, so the real target is asked for. */
export function isWriting(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0]
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Whether a dialog or a menu is open: then its keys are the only ones that act. */
const isOverlayOpen = () => document.querySelector('[role=dialog], [role=menu]') !== null

/** Whether a press that may mean something else in a field or in a dialog is meant for the screen. */
export const isForScreen = (event: KeyboardEvent) => !(event.defaultPrevented || isWriting(event) || isOverlayOpen())

/** Enter that ends an input method's word is not meant for us. */
export const isComposing = (event: { nativeEvent: KeyboardEvent }) =>
  event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229

/** Where it is kept whether single letters act: they can be turned off in the list of keys. */
export const LETTERS_KEY = 'atelier.letters'

export const areLettersOn = () => readStored(LETTERS_KEY, true)
