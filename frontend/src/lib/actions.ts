/**
 * Everything that can be done by a key or from the command palette. The palette, the shortcuts and the list of keys read this
 * table; the component that can do an action says how (`useActions`).
 */
import { useEffect } from 'react'
import { tinykeys } from 'tinykeys'
import { areLettersOn, formatKeys, isForScreen } from './keys'
import type { PlainTextKey } from './language'
import { useLatest } from './latest'

interface Action {
  /** Its name in the palette; without one it is not offered there. */
  text?: PlainTextKey
  /** What its name belongs to, written before it. */
  about?: PlainTextKey
  /** Its line in the list of keys, shared by actions that are read together. */
  help?: PlainTextKey
  /** In the notation of tinykeys. What only acts inside one control (the composer, the log, the editor) is bound by that control. */
  keys: readonly string[]
  /** Whether a press counts now; always without it. Single letters never count in a field or in a dialog. */
  when?(event: KeyboardEvent): boolean
}

const table = {
  'palette.open': { help: 'keys.palette', keys: ['$mod+k'] },
  'workshop.toggle': { help: 'keys.workshop', keys: ['$mod+.'] },
  'pane.next': { help: 'keys.pane', keys: ['F6'] },
  'pane.previous': { help: 'keys.pane', keys: ['Shift+F6'] },
  'toast.focus': { help: 'keys.toast', keys: ['F8'] },
  'chat.previous': { help: 'keys.chat', keys: ['Alt+ArrowUp'] },
  'chat.next': { help: 'keys.chat', keys: ['Alt+ArrowDown'] },
  'chat.previousUnread': { help: 'keys.unread', keys: ['Alt+Shift+ArrowUp'] },
  'chat.nextUnread': { help: 'keys.unread', keys: ['Alt+Shift+ArrowDown'] },
  'message.previous': { help: 'keys.message', keys: ['ArrowUp', 'k'] },
  'message.next': { help: 'keys.message', keys: ['ArrowDown', 'j'] },
  'message.oldest': { help: 'keys.edge', keys: ['Home'] },
  'message.newest': { help: 'keys.edge', keys: ['End'] },
  'message.open': { help: 'keys.inside', keys: ['Enter'] },
  'message.nextControl': { help: 'keys.inside', keys: ['Tab'] },
  'message.reply': { help: 'keys.reply', keys: ['r'] },
  'chats.open': { help: 'keys.goto', keys: ['g c'] },
  'suggestions.open': { text: 'suggestions', help: 'keys.goto', keys: ['g s'] },
  'versions.open': { text: 'keys.versions', help: 'keys.versions', keys: ['g h'] },
  'suggestion.previous': { help: 'keys.suggestions', keys: ['ArrowUp', 'k'], when: isForScreen },
  'suggestion.next': { help: 'keys.suggestions', keys: ['ArrowDown', 'j'], when: isForScreen },
  'suggestion.select': { help: 'keys.suggestions', keys: ['x'] },
  'suggestion.open': { help: 'keys.suggestions', keys: ['Enter'] },
  'message.send': { help: 'keys.send', keys: ['Enter'] },
  'message.newLine': { help: 'keys.send', keys: ['Shift+Enter'] },
  'message.sendQuietly': { help: 'keys.sendQuietly', keys: ['$mod+Shift+Enter'] },
  'runs.stop': { text: 'stopAll', help: 'keys.stop', keys: ['$mod+Shift+Period'] },
  'draft.apply': { help: 'keys.apply', keys: ['$mod+Enter'] },
  'version.save': { help: 'keys.save', keys: ['$mod+s'], when: event => !event.defaultPrevented },
  'composer.focus': { help: 'keys.escape', keys: ['Escape'], when: isForScreen },
  'settings.leave': { keys: ['Escape'], when: isForScreen },
  'settings.find': { keys: ['/'] },
  'chat.create': { text: 'newChat', keys: [] },
  'agent.create': { text: 'newAgent', keys: [] },
  'theme.light': { text: 'theme.light', about: 'theme', keys: [] },
  'theme.dark': { text: 'theme.dark', about: 'theme', keys: [] },
  'theme.system': { text: 'theme.system', about: 'theme', keys: [] },
  'keys.open': { text: 'keys', help: 'keys.list', keys: ['[Shift]+?'] },
} satisfies Record<string, Action>

export type ActionId = keyof typeof table

export const actions: Readonly<Record<ActionId, Action>> = table
export const actionIds = Object.keys(table) as ActionId[]

/** The keys of an action as people read them, such as "Ctrl K". */
export const formatShortcut = (id: ActionId): string => formatKeys(actions[id].keys)

/** Does the action. False: it does not apply here, and the press is left to the browser. */
type Run = (event?: KeyboardEvent) => unknown
type Runs = Partial<Record<ActionId, Run | null>>

const registered = new Set<() => Runs>()

/** Say how actions are done while this component is on the screen. The runs are asked for at each press: null is not possible now. */
export function useActions(runs: () => Runs): void {
  const latest = useLatest(runs)
  useEffect(() => {
    const read = () => latest.current()
    registered.add(read)
    return () => {
      registered.delete(read)
    }
  }, [])
}

/** How an action is done here and now; null if it cannot be. */
export function findRun(id: ActionId): Run | null {
  for (const read of [...registered].reverse()) {
    const run = read()[id]
    if (run) return run
  }
  return null
}

/** How long after the first key of a sequence the next one counts. */
const SEQUENCE_MS = 1_500

const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && !(ctrlKey || metaKey || altKey)

function press(ids: readonly ActionId[], event: KeyboardEvent): void {
  for (const id of ids) {
    const { when } = actions[id]
    const run = when && !when(event) ? null : findRun(id)
    if (!run || run(event) === false) continue
    event.preventDefault()
    return
  }
}

/** Bind the keys of all actions, once for the page. */
export function useShortcuts(): void {
  useEffect(() => {
    const bound = new Map<string, ActionId[]>()
    for (const id of actionIds) for (const key of actions[id].keys) bound.set(key, [...(bound.get(key) ?? []), id])
    const bindings = [...bound].map(([key, ids]) => [key, (event: KeyboardEvent) => press(ids, event)] as const)
    return tinykeys(window, Object.fromEntries(bindings), {
      timeout: SEQUENCE_MS,
      ignore: event => event.isComposing || (isLetter(event) && !(areLettersOn() && isForScreen(event))),
    })
  }, [])
}
