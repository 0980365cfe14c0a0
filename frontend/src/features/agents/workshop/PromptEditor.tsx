import type { EditorView } from '@codemirror/view'
import { type Ref, useCallback, useEffect, useImperativeHandle, useRef } from 'react'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { useLatest } from '@/lib/latest'
import { type LowerLayers, setLowerLayers } from './layerGutter'
import { createPromptEditor, focusText, goToLine, type PromptEvents, setReadOnly, showText } from './prompt'
import { type SourceMark, setSources } from './provenanceGutter'
import { setCaret } from './remoteCaret'
import { useShadowRoot } from './shadowRoot'
import workshopStyles from './Workshop.module.css'

export interface PromptHandle {
  goTo(line: number): void
  focus(): void
  /** Replaces the typed text with the stored one. */
  reset(): void
}

interface PromptEditorProps extends PromptEvents {
  text: string
  isReadOnly: boolean
  /** Whether this person is editing the text. Otherwise it is styled as read-only. */
  isEditedByMe: boolean
  lowerLayers: LowerLayers
  /** The caret of another person who is editing. */
  caret: { at: number; name: string } | null
  /** The contributors of the lines. */
  sources: readonly SourceMark[]
  ref: Ref<PromptHandle>
}

/** The editor of the prompt, also for readers, who see the text while it is written. Esc, then Tab moves the focus out. */
export function PromptEditor(props: PromptEditorProps) {
  const { t } = useTexts()
  const { text, isReadOnly, isEditedByMe, lowerLayers, caret, sources, ref } = props
  const view = useRef<EditorView | null>(null)
  const latest = useLatest(props)
  /** Texts typed here that have not come back as `text` yet. An older `text` must not undo newer typing. */
  const pendingTexts = useRef<string[]>([])
  const label = t('prompt')
  const hint = t('promptPlaceholder')

  const mount = useCallback(
    (root: ShadowRoot) => {
      const { text: start, isReadOnly: isInitiallyReadOnly, lowerLayers: layers } = latest.current
      const onEdit = (next: string, at: number) => {
        pendingTexts.current.push(next)
        latest.current.onEdit(next, at)
      }
      const events = () => ({ ...latest.current, onEdit })
      const editor = createPromptEditor({ root, text: start, isReadOnly: isInitiallyReadOnly, label, hint, events })
      editor.dispatch({ effects: setLowerLayers.of(layers) })
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
    const index = pendingTexts.current.lastIndexOf(text)
    if (index >= 0) pendingTexts.current.splice(0, index + 1)
    else if (view.current) {
      pendingTexts.current = []
      showText(view.current, text)
    }
  }, [text])
  useEffect(() => {
    if (view.current) setReadOnly(view.current, isReadOnly)
  }, [isReadOnly])
  useLowerLayers(view, lowerLayers)
  useCaret(view, caret)
  useEffect(() => view.current?.dispatch({ effects: setSources.of(sources) }), [sources])
  useImperativeHandle(
    ref,
    () => ({
      goTo: line => view.current && goToLine(view.current, line),
      focus: () => view.current && focusText(view.current),
      reset: () => {
        pendingTexts.current = []
        if (view.current) showText(view.current, latest.current.text)
      },
    }),
    [],
  )
  return <div className={cx(workshopStyles.ed, !isEditedByMe && workshopStyles.ro)} ref={host} />
}

type EditorRef = { current: EditorView | null }

function useLowerLayers(view: EditorRef, { production, applied }: LowerLayers): void {
  useEffect(
    () => view.current?.dispatch({ effects: setLowerLayers.of({ production, applied }) }),
    [view, production, applied],
  )
}

function useCaret(view: EditorRef, caret: PromptEditorProps['caret']): void {
  const at = caret?.at ?? null
  const name = caret?.name ?? ''
  useEffect(() => view.current?.dispatch({ effects: setCaret.of(at === null ? null : { at, name }) }), [view, at, name])
}
