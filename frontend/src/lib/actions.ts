/**
 * The actions that have a key or are in the command palette. The palette, the shortcuts and the keys dialog read this table; a
 * component registers how an action runs with `useActions`.
 */
import { useEffect } from 'react'
import { tinykeys } from 'tinykeys'
import { areSingleKeysOn, formatKeys, isForScreen } from './keys'
import type { PlainTextKey } from './language'
import { useLatest } from './latest'

/** The name of a row of the keys dialog, without `keys.`: the dialog alone names the texts, which are loaded with it. */
export type KeyHelp = PlainTextKey extends infer Key ? (Key extends `keys.${infer Name}` ? Name : never) : never

interface Action {
  /** Its text in the palette; without it, the action is not in the palette. */
  text?: PlainTextKey
  /** A text before `text` that names its subject. */
  about?: PlainTextKey
  /** Its row in the keys dialog, which several actions may share. */
  help?: KeyHelp
  /**
   * In the notation of tinykeys. Keys of one control (composer, log, editor) are here for the list of keys alone: the control
   * binds them, and no component runs them by `useActions`.
   */
  keys: readonly string[]
  /** Whether the keys are bound by their control alone. Otherwise a single S would end the sequence of G and S. */
  isOfControl?: true
  /** Whether the key applies; by default always. Single letters never apply in a field or a dialog. */
  when?(event: KeyboardEvent): boolean
}

const table = {
  'palette.open': { help: 'palette', keys: ['$mod+k'] },
  'workshop.toggle': { help: 'workshop', keys: ['$mod+.'] },
  'pane.next': { help: 'pane', keys: ['F6'] },
  'pane.previous': { help: 'pane', keys: ['Shift+F6'] },
  'toast.focus': { help: 'toast', keys: ['F8'] },
  'chat.previous': { help: 'chat', keys: ['Alt+ArrowUp'] },
  'chat.next': { help: 'chat', keys: ['Alt+ArrowDown'] },
  'chat.previousUnread': { help: 'unread', keys: ['Alt+Shift+ArrowUp'] },
  'chat.nextUnread': { help: 'unread', keys: ['Alt+Shift+ArrowDown'] },
  'chat.mute': { help: 'mute', keys: ['m'], isOfControl: true },
  'message.previous': { help: 'message', keys: ['ArrowUp', 'k'] },
  'message.next': { help: 'message', keys: ['ArrowDown', 'j'] },
  'message.oldest': { help: 'edge', keys: ['Home'] },
  'message.newest': { help: 'edge', keys: ['End'] },
  'message.open': { help: 'inside', keys: ['Enter'] },
  'message.nextControl': { help: 'inside', keys: ['Tab'] },
  'message.reply': { help: 'reply', keys: ['r'] },
  'message.edit': { help: 'edit', keys: ['e'] },
  'message.editLast': { help: 'editLast', keys: ['ArrowUp'], isOfControl: true },
  'message.delete': { help: 'delete', keys: ['Delete'], when: isForScreen },
  'message.pin': { help: 'pin', keys: ['p'] },
  'message.react': { help: 'react', keys: ['[Shift]++'] },
  'message.copyText': { help: 'copy', keys: ['c'] },
  'message.copyMarkdown': { help: 'copy', keys: ['Shift+c'] },
  'message.compare': { help: 'compare', keys: ['v'] },
  'message.otherAnswer': { help: 'otherAnswer', keys: ['a'] },
  'answer.previous': { help: 'answers', keys: ['['] },
  'answer.next': { help: 'answers', keys: [']'] },
  'message.good': { help: 'thumbs', keys: ['y'] },
  'message.bad': { help: 'thumbs', keys: ['n'] },
  'call.approve': { help: 'approve', keys: ['$mod+Enter'], isOfControl: true },
  'pins.open': { text: 'pins', keys: [] },
  'task.fold': { help: 'task', keys: ['ArrowLeft'], isOfControl: true },
  'task.unfold': { help: 'task', keys: ['ArrowRight'], isOfControl: true },
  'task.runAgain': { help: 'task', keys: ['r'], isOfControl: true },
  'task.stop': { help: 'task', keys: ['s'], isOfControl: true },
  'task.foldAll': { help: 'tasks', keys: ['Shift+ArrowLeft'], isOfControl: true },
  'task.unfoldAll': { help: 'tasks', keys: ['Shift+ArrowRight'], isOfControl: true },
  'plan.open': { text: 'plan.title', keys: [] },
  'chats.open': { help: 'goto', keys: ['g c'] },
  'suggestions.open': { text: 'suggestions', help: 'goto', keys: ['g s'] },
  'directory.open': { text: 'directory', help: 'goto', keys: ['g d'] },
  'search.open': { text: 'keys.search', help: 'goto', keys: ['g f'] },
  'search.inChat': { text: 'keys.searchChat', help: 'searchChat', keys: ['/'] },
  'versions.open': { text: 'keys.versions', help: 'versions', keys: ['g h'] },
  'suggestion.previous': { help: 'suggestions', keys: ['ArrowUp', 'k'], when: isForScreen },
  'suggestion.next': { help: 'suggestions', keys: ['ArrowDown', 'j'], when: isForScreen },
  'suggestion.select': { help: 'suggestions', keys: ['x'] },
  'suggestion.open': { help: 'suggestions', keys: ['Enter'] },
  'message.send': { help: 'send', keys: ['Enter'] },
  'message.newLine': { help: 'send', keys: ['Shift+Enter'] },
  'message.sendQuietly': { help: 'sendQuietly', keys: ['$mod+Shift+Enter'] },
  'runs.stop': { text: 'stopAll', help: 'stop', keys: ['$mod+Shift+Period'] },
  'draft.apply': { help: 'apply', keys: ['$mod+Enter'] },
  'version.save': { help: 'save', keys: ['$mod+s'], when: event => !event.defaultPrevented },
  'composer.focus': { help: 'escape', keys: ['Escape'], when: isForScreen },
  'settings.leave': { keys: ['Escape'], when: isForScreen },
  'settings.find': { keys: ['/'] },
  'chat.create': { text: 'newChat', keys: [] },
  'agent.create': { text: 'newAgent', keys: [] },
  'theme.light': { text: 'theme.light', about: 'theme', keys: [] },
  'theme.dark': { text: 'theme.dark', about: 'theme', keys: [] },
  'theme.system': { text: 'theme.system', about: 'theme', keys: [] },
  'keys.open': { text: 'keys', help: 'list', keys: ['[Shift]+?'] },
} satisfies Record<string, Action>

export type ActionId = keyof typeof table

/** The actions that are in the palette. */
export type PaletteActionId = { [Id in ActionId]: 'text' extends keyof (typeof table)[Id] ? Id : never }[ActionId]

export const actions: Readonly<Record<ActionId, Action>> = table
export const actionIds = Object.keys(table) as ActionId[]
export const paletteActionIds = actionIds.filter(id => actions[id].text) as PaletteActionId[]

/** Formats the keys of an action for people, such as "Ctrl K". */
export const formatShortcut = (id: ActionId): string => formatKeys(actions[id].keys)

/** Performs the action. Returns false if it does not apply: the key is left to another action or to the browser. */
type ActionHandler = (event?: KeyboardEvent) => unknown
type ActionHandlers = Partial<Record<ActionId, ActionHandler | null>>

/** For each mounted component with `useActions`, the function that returns its handlers, in the order of mounting. */
const handlerSources = new Set<() => ActionHandlers>()

/**
 * Registers the handlers of actions while the component is mounted. Of several components with an action, the one that was
 * mounted last handles it. `getHandlers` is called on each key press. Null: this component does not offer the action now.
 */
export function useActions(getHandlers: () => ActionHandlers): void {
  const latest = useLatest(getHandlers)
  useEffect(() => {
    const getLatestHandlers = () => latest.current()
    handlerSources.add(getLatestHandlers)
    return () => {
      handlerSources.delete(getLatestHandlers)
    }
  }, [])
}

/** Returns the handler of an action; null if no component offers the action now. */
export function findActionHandler(id: ActionId): ActionHandler | null {
  for (const getHandlers of [...handlerSources].reverse()) {
    const handler = getHandlers()[id]
    if (handler) return handler
  }
  return null
}

/** Time limit between the keys of a sequence, in ms. */
const SEQUENCE_MS = 1_500

const isSingleCharacter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && !(ctrlKey || metaKey || altKey)

/** Returns whether single characters run actions now: they are turned on, and no field or dialog receives them. */
const areSingleKeysBound = (event: KeyboardEvent) => areSingleKeysOn() && isForScreen(event)

function runFirstAction(ids: readonly ActionId[], event: KeyboardEvent): void {
  for (const id of ids) {
    const { when } = actions[id]
    const handler = when && !when(event) ? null : findActionHandler(id)
    if (!handler || handler(event) === false) continue
    event.preventDefault()
    return
  }
}

/** Binds the keys of all actions, once per page. */
export function useShortcuts(): void {
  useEffect(() => {
    const bound = new Map<string, ActionId[]>()
    for (const id of actionIds)
      if (!actions[id].isOfControl) for (const key of actions[id].keys) bound.set(key, [...(bound.get(key) ?? []), id])
    const bindings = [...bound].map(
      ([key, ids]) => [key, (event: KeyboardEvent) => runFirstAction(ids, event)] as const,
    )
    return tinykeys(window, Object.fromEntries(bindings), {
      timeout: SEQUENCE_MS,
      ignore: event => event.isComposing || (isSingleCharacter(event) && !areSingleKeysBound(event)),
    })
  }, [])
}
