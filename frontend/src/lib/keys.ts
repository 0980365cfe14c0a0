/** The keyboard: formats keys for the platform, and decides which key presses apply. */
import { readStored } from './storage'

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

const symbols: Record<string, string> = {
  $mod: isMac ? '⌘' : 'Ctrl',
  Alt: isMac ? '⌥' : 'Alt',
  Shift: '⇧',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: '↵',
  Tab: '⇥',
  Escape: 'Esc',
  Delete: 'Del',
  Period: '.',
}

const getSymbol = (part: string) => symbols[part] ?? (part.length === 1 ? part.toUpperCase() : part)

/** Formats the modifiers and the key of one key press; optional modifiers are left out. */
function formatPress(press: string): { modifiers: string; key: string } {
  // As tinykeys does: a + that follows another one is the key.
  const parts = press.split(/(?<=\w|\])\+/).filter(part => !part.startsWith('['))
  const gap = isMac ? '' : ' '
  const modifiers = parts.slice(0, -1).map(part => getSymbol(part) + gap)
  return { modifiers: modifiers.join(''), key: getSymbol(parts.at(-1) ?? '') }
}

/** Formats key bindings of tinykeys for people: `['Alt+ArrowUp', 'Alt+ArrowDown']` → "Alt ↑ ↓", `['g c', 'g s']` → "G C  G S". */
export function formatKeys(bindings: readonly string[]): string {
  let text = ''
  /** The modifiers of the previous binding; null if it is a sequence or there is none. */
  let last: string | null = null
  for (const binding of bindings) {
    if (binding.includes(' ')) {
      text += `${text && '  '}${binding.split(' ').map(getSymbol).join(' ')}`
      last = null
      continue
    }
    const { modifiers, key } = formatPress(binding)
    text += modifiers === last ? ` ${key}` : `${text && '  '}${modifiers}${key}`
    last = modifiers
  }
  return text
}

/** Returns whether an event comes from a text field. The prompt editor is in a shadow tree, so the composed path is used. */
export function isInTextField(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0]
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}

/** Returns whether a dialog or a menu is open, whose keys take precedence. */
const isOverlayOpen = () => document.querySelector('[role=dialog], [role=menu]') !== null

/** Returns whether a key press is meant for the screen, not for a text field or a dialog. */
export const isForScreen = (event: KeyboardEvent) =>
  !(event.defaultPrevented || isInTextField(event) || isOverlayOpen())

export const hasAnyModifier = (event: Pick<KeyboardEvent, 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>) =>
  event.ctrlKey || event.metaKey || event.altKey || event.shiftKey

/** Returns whether an input method is composing text: then Enter only confirms the composition. */
export const isComposing = (event: { nativeEvent: KeyboardEvent }) =>
  event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229

/** The storage key of whether single characters (`j`, `?`) are shortcuts. They can be turned off in the keys dialog. */
export const SINGLE_KEYS_KEY = 'atelier.letters'

export const areSingleKeysOn = () => readStored(SINGLE_KEYS_KEY, true)
