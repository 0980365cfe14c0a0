/** The CodeMirror editor of the prompt, without React. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { editorTheme } from './editorTheme'
import { layerGutter } from './layerGutter'
import { provenanceGutter } from './provenanceGutter'
import { remoteCaret } from './remoteCaret'

export interface PromptEvents {
  onEdit(text: string, caret: number): void
  onApply(): void
  onSave(): void
}

interface PromptSetup {
  root: ShadowRoot
  text: string
  isReadOnly: boolean
  label: string
  hint: string
  events(): PromptEvents
}

/** Returns the smallest change from one text to the other, which keeps the reader's position and selection. */
function findChange(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null
  const maxLength = Math.min(before.length, after.length)
  let from = 0
  while (from < maxLength && before[from] === after[from]) from++
  let kept = 0 // the number of equal characters at the end
  while (kept < maxLength - from && before[before.length - 1 - kept] === after[after.length - 1 - kept]) kept++
  return { from, to: before.length - kept, insert: after.slice(from, after.length - kept) }
}

const editability = new Compartment()

const buildEditability = (isReadOnly: boolean): Extension => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ 'aria-readonly': String(isReadOnly), 'aria-multiline': 'true' }),
  EditorView.editable.of(!isReadOnly),
]

export const setReadOnly = (view: EditorView, isReadOnly: boolean) =>
  view.dispatch({ effects: editability.reconfigure(buildEditability(isReadOnly)) })

/** Replaces the displayed text without adding to the undo history. */
export function showText(view: EditorView, text: string): void {
  const changes = findChange(view.state.doc.toString(), text)
  const annotations = [Transaction.remote.of(true), Transaction.addToHistory.of(false)]
  if (changes) view.dispatch({ changes, annotations })
}

/** Focuses the editor. A caret at the start moves to the end. */
export function focusText(view: EditorView): void {
  const { doc, selection } = view.state
  if (selection.main.empty && selection.main.head === 0)
    view.dispatch({ selection: { anchor: doc.length }, scrollIntoView: true })
  view.focus()
}

/** Moves the caret to the start of a line (1-based) and scrolls to it. */
export function goToLine(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines))
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
  view.focus()
}

const buildKeymap = (events: () => PromptEvents) => {
  const run = (act: () => void) => () => {
    act()
    return true
  }
  return keymap.of([
    { key: 'Mod-Enter', run: run(() => events().onApply()) },
    { key: 'Mod-s', run: run(() => events().onSave()), preventDefault: true },
    indentWithTab,
    ...historyKeymap,
    ...defaultKeymap,
  ])
}

const listenToEdits = (events: () => PromptEvents) =>
  EditorView.updateListener.of(update => {
    const isOwn = update.transactions.some(transaction => transaction.annotation(Transaction.remote) !== true)
    if (update.docChanged && isOwn) events().onEdit(update.state.doc.toString(), update.state.selection.main.head)
  })

export function createPromptEditor({ root, text, isReadOnly, label, hint, events }: PromptSetup): EditorView {
  const extensions = [
    editorTheme,
    lineNumbers(),
    layerGutter,
    remoteCaret,
    provenanceGutter,
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    placeholder(hint),
    editability.of(buildEditability(isReadOnly)),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    buildKeymap(events),
    listenToEdits(events),
  ]
  return new EditorView({ parent: root, root, state: EditorState.create({ doc: text, extensions }) })
}
