import type { EditorView } from '@codemirror/view'
import { type Ref, useCallback, useEffect, useImperativeHandle, useRef } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { type Below, setBelow } from './layerGutter'
import { focusText, goToLine, makePrompt, type PromptEvents, setReadOnly, showText } from './prompt'
import { type SourceMark, setSources } from './provenanceGutter'
import { setCaret } from './remoteCaret'
import { useShadowRoot } from './shadowRoot'
import workshopStyles from './Workshop.module.css'

export interface PromptHandle {
  goTo(line: number): void
  focus(): void
  /** Shows the stored text in place of what was typed. */
  reset(): void
}

interface PromptEditorProps extends PromptEvents {
  text: string
  isReadOnly: boolean
  /** Somebody writes here: it looks like it. */
  isWritten: boolean
  below: Below
  /** Where somebody else is writing. */
  caret: { at: number; name: string } | null
  /** Whose words the lines are. */
  sources: readonly SourceMark[]
  ref: Ref<PromptHandle>
}

/** The prompt, as it is written or read along. Esc, then Tab leaves it. */
export function PromptEditor(props: PromptEditorProps) {
  const { t } = useTexts()
  const { text, isReadOnly, isWritten, below, caret, sources, ref } = props
  const view = useRef<EditorView | null>(null)
  const latest = useLatest(props)
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
  const host = useShadowRoot(mount)

  useEffect(() => {
    const own = typed.current.lastIndexOf(text)
    if (own >= 0) typed.current.splice(0, own + 1)
    else if (view.current) {
      typed.current = []
      showText(view.current, text)
    }
  }, [text])
  useEffect(() => {
    if (view.current) setReadOnly(view.current, isReadOnly)
  }, [isReadOnly])
  useBelow(view, below)
  useCaret(view, caret)
  useEffect(() => view.current?.dispatch({ effects: setSources.of(sources) }), [sources])
  useImperativeHandle(
    ref,
    () => ({
      goTo: line => view.current && goToLine(view.current, line),
      focus: () => view.current && focusText(view.current),
      reset: () => {
        typed.current = []
        if (view.current) showText(view.current, latest.current.text)
      },
    }),
    [],
  )
  return <div className={cx(workshopStyles.ed, !isWritten && workshopStyles.ro)} ref={host} />
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
