import type { EditorView } from '@codemirror/view'
import { type Ref, useCallback, useEffect, useImperativeHandle, useRef } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { type Below, setBelow } from './layers'
import { goToLine, makePrompt, type PromptEvents, setReadOnly, showText } from './prompt'
import { setCaret } from './remoteCaret'
import { useShadow } from './shadow'
import { type Mark, setSources } from './sourceMarks'

export interface PromptHandle {
  goTo(line: number): void
}

interface PromptEditorProps extends PromptEvents {
  text: string
  isReadOnly: boolean
  below: Below
  /** Where somebody else is writing. */
  caret: { at: number; name: string } | null
  /** Whose words the lines are. */
  sources: readonly Mark[]
  ref: Ref<PromptHandle>
}

/** The prompt, as it is written or read along. Esc, then Tab leaves it. */
export function PromptEditor(props: PromptEditorProps) {
  const { t } = useTexts()
  const { text, isReadOnly, below, caret, sources, ref } = props
  const view = useRef<EditorView | null>(null)
  const latest = useRef(props)
  latest.current = props
  /** What was typed here and has not come back as `text` yet: an old text must not undo newer typing. */
  const typed = useRef<string[]>([])
  const label = t('prompt')
  const hint = t('promptPlaceholder')

  const mount = useCallback(
    (root: ShadowRoot) => {
      const { text: start, isReadOnly: locked, below: layers } = latest.current
      const onEdit = (next: string, at: number) => {
        typed.current.push(next)
        latest.current.onEdit(next, at)
      }
      const events = () => ({ ...latest.current, onEdit })
      const editor = makePrompt({ root, text: start, isReadOnly: locked, label, hint, events })
      editor.dispatch({ effects: setBelow.of(layers) })
      view.current = editor
      return () => {
        editor.destroy()
        view.current = null
      }
    },
    [label, hint],
  )
  const host = useShadow(mount)

  useEffect(() => {
    const own = typed.current.lastIndexOf(text)
    if (own >= 0) typed.current.splice(0, own + 1)
    else if (view.current) {
      typed.current = []
      showText(view.current, text)
    }
  }, [text])
  useEffect(() => {
    if (!view.current) return
    setReadOnly(view.current, isReadOnly)
    if (!isReadOnly) view.current.focus()
  }, [isReadOnly])
  useBelow(view, below)
  useCaret(view, caret)
  useEffect(() => view.current?.dispatch({ effects: setSources.of(sources) }), [sources])
  useImperativeHandle(ref, () => ({ goTo: line => view.current && goToLine(view.current, line) }), [])
  return <div className={cx('ed', isReadOnly && 'ro')} ref={host} />
}

type ViewRef = { current: EditorView | null }

function useBelow(view: ViewRef, { production, applied }: Below): void {
  useEffect(
    () => view.current?.dispatch({ effects: setBelow.of({ production, applied }) }),
    [view, production, applied],
  )
}

function useCaret(view: ViewRef, caret: PromptEditorProps['caret']): void {
  const at = caret?.at ?? null
  const name = caret?.name ?? ''
  useEffect(() => view.current?.dispatch({ effects: setCaret.of(at === null ? null : { at, name }) }), [view, at, name])
}
