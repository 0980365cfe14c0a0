import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useCallback } from 'react'
import type { SpecContent } from '@/api'
import { type TextKey, type Texts, useTexts } from '@/lib/language'
import type { Layer } from '@/ui/Mark'
import { type FieldChange, fieldChanges } from '../content'
import { diffLook, look } from './look'
import { useShadow } from './shadow'

interface DiffViewProps {
  before: SpecContent
  after: SpecContent
  layer: Layer
}

const diff = (before: string) =>
  unifiedMergeView({
    original: before,
    mergeControls: false,
    gutter: false,
    highlightChanges: true,
    syntaxHighlightDeletions: false,
    collapseUnchanged: { margin: 3, minSize: 6 },
  })

/** With a line end at the end, or a line that is added last would change the one before it, too. */
const readOnly = (label: string, t: Texts['t']) => [
  look,
  diffLook,
  lineNumbers(),
  EditorState.phrases.of({ '$ unchanged lines': t('unchangedLines') }),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
]

/** What differs: the prompt line by line, and every other field by name. */
export function DiffView({ before, after, layer }: DiffViewProps) {
  const { t } = useTexts()
  const label = t('diff')
  const mount = useCallback(
    (root: ShadowRoot) => {
      const state = EditorState.create({
        doc: `${after.prompt}\n`,
        extensions: [...readOnly(label, t), diff(`${before.prompt}\n`)],
      })
      const view = new EditorView({ parent: root, root, state })
      return () => view.destroy()
    },
    [before.prompt, after.prompt, label, t],
  )
  const host = useShadow(mount)
  const changes = fieldChanges(before, after)
  const isSamePrompt = before.prompt === after.prompt
  return (
    <div className="diffbox" data-layer={layer}>
      {changes.length > 0 ? <FieldChanges changes={changes} /> : null}
      {isSamePrompt && changes.length === 0 ? <p className="nodiff">{t('noDifference')}</p> : null}
      <div className="ed" ref={host} />
    </div>
  )
}

export const fieldName = (field: FieldChange['field']): TextKey =>
  field.startsWith('tool:') ? 'tool' : (`field.${field}` as Extract<TextKey, `field.${string}`>)

function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  const { t } = useTexts()
  return (
    <dl className="fieldchanges">
      {changes.map(change => (
        <div key={change.field}>
          <dt>
            {t(fieldName(change.field))}{' '}
            {change.field.startsWith('tool:') ? <code>{change.field.slice(5)}</code> : null}
          </dt>
          <dd>
            <del>{change.before}</del> → <ins>{change.after}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
