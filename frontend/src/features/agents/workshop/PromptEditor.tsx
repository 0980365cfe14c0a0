import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { Compartment, EditorState, Transaction } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { type Below, layerBars, setBelow } from './layers'
import { look } from './look'
import { remoteCaret, setCaret } from './remoteCaret'
import { useShadow } from './shadow'

interface PromptEditorProps {
  text: string
  isReadOnly: boolean
  below: Below
  /** Where somebody else is writing. */
  caret: { at: number; name: string } | null
  onEdit(text: string, caret: number): void
  onApply(): void
  onSave(): void
}

/** The smallest change from one text to the other: so the reader's own place and selection stay. */
export function changeBetween(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from++
  let end = 0
  while (end < most - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) }
}

const writable = new Compartment()
const access = (isReadOnly: boolean) => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.contentAttributes.of({ 'aria-readonly': String(isReadOnly), 'aria-multiline': 'true' }),
  EditorView.editable.of(!isReadOnly),
]

/** The prompt, as it is written or read along. Esc, then Tab leaves it. */
export function PromptEditor(props: PromptEditorProps) {
  const { t } = useTexts()
  const { text, isReadOnly, below, caret } = props
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props
  const label = t('prompt')
  const hint = t('promptPlaceholder')

  const host = useShadow(
    root => {
      const act = (run: () => void) => () => {
        run()
        return true
      }
      const editor = new EditorView({
        parent: root,
        root,
        state: EditorState.create({
          doc: latest.current.text,
          extensions: [
            look,
            lineNumbers(),
            layerBars,
            remoteCaret,
            history(),
            drawSelection(),
            highlightActiveLine(),
            highlightActiveLineGutter(),
            placeholder(hint),
            writable.of(access(latest.current.isReadOnly)),
            EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
            keymap.of([
              { key: 'Mod-Enter', run: act(() => latest.current.onApply()) },
              { key: 'Mod-s', run: act(() => latest.current.onSave()), preventDefault: true },
              indentWithTab,
              ...historyKeymap,
              ...defaultKeymap,
            ]),
            EditorView.updateListener.of(update => {
              const isOwn = update.transactions.some(each => each.annotation(Transaction.remote) !== true)
              if (update.docChanged && isOwn)
                latest.current.onEdit(update.state.doc.toString(), update.state.selection.main.head)
            }),
          ],
        }),
      })
      view.current = editor
      editor.dispatch({ effects: setBelow.of(latest.current.below) })
      return () => {
        editor.destroy()
        view.current = null
      }
    },
    [label, hint],
  )

  useEffect(() => {
    const change = view.current && changeBetween(view.current.state.doc.toString(), text)
    if (!change) return
    view.current?.dispatch({
      changes: change,
      annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)],
    })
  }, [text])
  useEffect(() => {
    view.current?.dispatch({ effects: writable.reconfigure(access(isReadOnly)) })
    if (!isReadOnly) view.current?.focus()
  }, [isReadOnly])
  useEffect(
    () => view.current?.dispatch({ effects: setBelow.of({ production: below.production, applied: below.applied }) }),
    [below.production, below.applied],
  )
  const at = caret?.at ?? null
  const name = caret?.name ?? ''
  useEffect(() => view.current?.dispatch({ effects: setCaret.of(at === null ? null : { at, name }) }), [at, name])

  return <div className={cx('ed', isReadOnly && 'ro')} ref={host} />
}
