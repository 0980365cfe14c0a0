import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useCallback, useState } from 'react'
import type { SpecContent } from '@/api'
import type { Layer } from '@/features/layers'
import { cx } from '@/lib/cx'
import { type PlainTextKey, type Texts, useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import { type FieldChange, fieldChanges } from '../content'
import historyStyles from '../history/History.module.css'
import { ChangedText } from './ChangedText'
import { diffRules, editorTheme } from './editorTheme'
import { COLLAPSE, hidesLines, lineCounts } from './layerGutter'
import { lineChangeCounts } from './lineChanges'
import { SideBySide } from './SideBySide'
import { useShadowRoot } from './shadowRoot'
import workshopStyles from './Workshop.module.css'
import { wordParts } from './wordDiff'

interface DiffViewProps {
  before: SpecContent
  after: SpecContent
  layer: Layer
  /** Two: the old on the left, the new on the right. */
  columns?: 1 | 2
}

/** With a line end at the end, or a line that is added last would change the one before it, too. */
const textOf = (content: SpecContent) => `${content.prompt}\n`

const readOnly = (label: string, t: Texts['t']): Extension[] => [
  editorTheme,
  // Behind the last line end stands no line.
  lineNumbers({ formatNumber: (number, state) => (number === state.doc.lines ? '' : String(number)) }),
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
    ...(isFolded ? { collapseUnchanged: COLLAPSE } : {}),
  })
  const state = EditorState.create({ doc: after, extensions: [...readOnly(t('diff'), t), diffRules, merge] })
  const view = new EditorView({ parent: root, root, state })
  return () => view.destroy()
}

/** What differs between two specs: the prompt by lines and words, every other field by name. */
export function DiffView({ before, after, layer, columns = 1 }: DiffViewProps) {
  const { t } = useTexts()
  const [isFolded, setFolded] = useState(true)
  const [a, b] = [textOf(before), textOf(after)]
  const changes = fieldChanges(before, after, t)
  const isSamePrompt = before.prompt === after.prompt
  const counts = (columns === 2 ? lineChangeCounts : lineCounts)(before.prompt, after.prompt)
  return (
    <div className={workshopStyles.diffbox} data-layer={layer}>
      {changes.length > 0 ? <FieldChanges changes={changes} /> : null}
      <div className={historyStyles.diffhead}>
        <b>{t('prompt')}</b>
        {isSamePrompt ? (
          <span className="faint">{t(changes.length === 0 ? 'noDifference' : 'samePrompt')}</span>
        ) : (
          <span className="num">
            <ins>+{counts.added}</ins> <del>−{counts.removed}</del>
          </span>
        )}
        {hidesLines(before.prompt, after.prompt) ? (
          <button
            type="button"
            className={cx(buttonStyles.btn, buttonStyles.xs)}
            aria-pressed={!isFolded}
            onClick={() => setFolded(!isFolded)}
          >
            {t('showUnchanged')}
          </button>
        ) : null}
      </div>
      {columns === 2 ? (
        <SideBySide before={before.prompt} after={after.prompt} isFolded={isFolded} />
      ) : (
        <OneColumn before={a} after={b} isFolded={isFolded} />
      )}
    </div>
  )
}

function OneColumn({ before, after, isFolded }: Omit<Setup, 't'>) {
  const { t } = useTexts()
  const mount = useCallback(
    (root: ShadowRoot) => inOneColumn(root, { before, after, isFolded, t }),
    [before, after, isFolded, t],
  )
  const host = useShadowRoot(mount)
  return <div className={workshopStyles.ed} ref={host} />
}

export const fieldName = (field: FieldChange['field']): PlainTextKey =>
  field.startsWith('tool:') ? 'tool' : (`field.${field}` as Extract<PlainTextKey, `field.${string}`>)

function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  const { t } = useTexts()
  return (
    <dl className={workshopStyles.fieldchanges}>
      {changes.map(({ field, before, after }) => {
        const parts = wordParts(before, after)
        return (
          <div key={field}>
            <dt>
              {t(fieldName(field))} {field.startsWith('tool:') ? <code>{field.slice(5)}</code> : null}
            </dt>
            <dd>
              <ChangedText kind="del" parts={parts.before} /> → <ChangedText kind="ins" parts={parts.after} />
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
