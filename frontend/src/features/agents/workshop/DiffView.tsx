import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useCallback, useState } from 'react'
import type { SpecContent } from '@/api'
import { type TextKey, type Texts, useTexts } from '@/lib/language'
import type { Layer } from '@/ui/Mark'
import { type FieldChange, fieldChanges } from '../content'
import { lineCounts } from './layers'
import { diffLook, look, oldLook } from './look'
import { useShadow } from './shadow'
import { type Part, wordParts } from './words'

interface DiffViewProps {
  before: SpecContent
  after: SpecContent
  layer: Layer
  /** Two: the old on the left, the new on the right. */
  columns?: 1 | 2
}

const around = { margin: 3, minSize: 6 }

/** With a line end at the end, or a line that is added last would change the one before it, too. */
const textOf = (content: SpecContent) => `${content.prompt}\n`

const readOnly = (label: string, t: Texts['t']): Extension[] => [
  look,
  lineNumbers(),
  EditorState.phrases.of({ '$ unchanged lines': t('unchangedLines') }),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
]

interface Setup {
  before: string
  after: string
  isFolded: boolean
  t: Texts['t']
}

function inOneColumn(root: ShadowRoot, { before, after, isFolded, t }: Setup): () => void {
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    gutter: false,
    highlightChanges: true,
    syntaxHighlightDeletions: false,
    ...(isFolded ? { collapseUnchanged: around } : {}),
  })
  const state = EditorState.create({ doc: after, extensions: [...readOnly(t('diff'), t), diffLook, merge] })
  const view = new EditorView({ parent: root, root, state })
  return () => view.destroy()
}

function inTwoColumns(root: ShadowRoot, { before, after, isFolded, t }: Setup): () => void {
  const view = new MergeView({
    parent: root,
    root,
    gutter: false,
    a: { doc: before, extensions: [...readOnly(t('diffBefore'), t), oldLook] },
    b: { doc: after, extensions: [...readOnly(t('diffAfter'), t), diffLook] },
    ...(isFolded ? { collapseUnchanged: around } : {}),
  })
  return () => view.destroy()
}

/** What differs between two specs: the prompt by lines and words, every other field by name. */
export function DiffView({ before, after, layer, columns = 1 }: DiffViewProps) {
  const { t } = useTexts()
  const [isFolded, setFolded] = useState(true)
  const [a, b] = [textOf(before), textOf(after)]
  const mount = useCallback(
    (root: ShadowRoot) => (columns === 2 ? inTwoColumns : inOneColumn)(root, { before: a, after: b, isFolded, t }),
    [a, b, columns, isFolded, t],
  )
  const host = useShadow(mount)
  const changes = fieldChanges(before, after)
  const isSamePrompt = before.prompt === after.prompt
  const counts = lineCounts(before.prompt, after.prompt)
  return (
    <div className="diffbox" data-layer={layer}>
      {changes.length > 0 ? <FieldChanges changes={changes} /> : null}
      <div className="diffhead">
        <b>{t('prompt')}</b>
        {isSamePrompt ? (
          <span className="faint">{t(changes.length === 0 ? 'noDifference' : 'samePrompt')}</span>
        ) : (
          <span className="num">
            <ins>+{counts.added}</ins> <del>−{counts.removed}</del>
          </span>
        )}
        <button type="button" className="btn xs" aria-pressed={!isFolded} onClick={() => setFolded(!isFolded)}>
          {t('showUnchanged')}
        </button>
      </div>
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
            <Words kind="del" parts={wordParts(change.before, change.after).before} /> →{' '}
            <Words kind="ins" parts={wordParts(change.before, change.after).after} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A value, with the words that are only on this side marked. */
function Words({ kind: Kind, parts }: { kind: 'ins' | 'del'; parts: readonly Part[] }) {
  return parts.map(part =>
    part.isChanged ? <Kind key={part.at}>{part.text}</Kind> : <span key={part.at}>{part.text}</span>,
  )
}
