import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useCallback, useState } from 'react'
import { type SpecContent, useFileNames } from '@/api'
import type { Layer } from '@/features/layers'
import { cx } from '@/lib/cx'
import { type Texts, useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import { FieldName } from '../components/FieldName'
import { listPageIds } from '../content'
import { type FieldChange, listFieldChanges } from '../fields'
import versionsStyles from '../versions/Versions.module.css'
import { ChangedText } from './ChangedText'
import { diffRules, editorTheme } from './editorTheme'
import { COLLAPSE, countUnifiedChanges, hasFoldableLines } from './layerGutter'
import { countSideBySideChanges } from './lineChanges'
import { SideBySide } from './SideBySide'
import { useShadowRoot } from './shadowRoot'
import workshopStyles from './Workshop.module.css'
import { diffWords } from './wordDiff'

interface DiffViewProps {
  before: SpecContent
  after: SpecContent
  layer: Layer
  /** With two columns, the old text is on the left and the new one on the right. */
  columns?: 1 | 2
}

/** Returns the prompt with a line break at the end: without it, adding a last line would also change the line before. */
const toDocument = (content: SpecContent) => `${content.prompt}\n`

const buildReadOnlyExtensions = (label: string, t: Texts['t']): Extension[] => [
  editorTheme,
  // The line after the last line break is not a line of the prompt.
  lineNumbers({ formatNumber: (number, state) => (number === state.doc.lines ? '' : String(number)) }),
  EditorState.phrases.of({ '$ unchanged lines': t('unchangedLines') }),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
]

interface DiffSetup {
  before: string
  after: string
  isFolded: boolean
  t: Texts['t']
}

function mountUnifiedDiff(root: ShadowRoot, { before, after, isFolded, t }: DiffSetup): () => void {
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    gutter: false,
    highlightChanges: true,
    syntaxHighlightDeletions: false,
    ...(isFolded ? { collapseUnchanged: COLLAPSE } : {}),
  })
  const state = EditorState.create({
    doc: after,
    extensions: [...buildReadOnlyExtensions(t('diff'), t), diffRules, merge],
  })
  const view = new EditorView({ parent: root, root, state })
  return () => view.destroy()
}

/** The differences between two specs: the prompt by lines and words, the other fields by name. */
export function DiffView({ before, after, layer, columns = 1 }: DiffViewProps) {
  const { t } = useTexts()
  const [isFolded, setFolded] = useState(true)
  const [a, b] = [toDocument(before), toDocument(after)]
  const findFileName = useFileNames([...before.tools, ...after.tools].flatMap(listPageIds))
  const changes = listFieldChanges(before, after, t, findFileName)
  const isSamePrompt = before.prompt === after.prompt
  const counts = (columns === 2 ? countSideBySideChanges : countUnifiedChanges)(before.prompt, after.prompt)
  return (
    <div className={workshopStyles.diffbox} data-layer={layer}>
      {changes.length > 0 ? <FieldChanges changes={changes} /> : null}
      <div className={versionsStyles.diffhead}>
        <b>{t('prompt')}</b>
        {isSamePrompt ? (
          <span className="faint">{t(changes.length === 0 ? 'noDifference' : 'samePrompt')}</span>
        ) : (
          <span className="num">
            <ins>+{counts.added}</ins> <del>−{counts.removed}</del>
          </span>
        )}
        {hasFoldableLines(before.prompt, after.prompt) ? (
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

function OneColumn({ before, after, isFolded }: Omit<DiffSetup, 't'>) {
  const { t } = useTexts()
  const mount = useCallback(
    (root: ShadowRoot) => mountUnifiedDiff(root, { before, after, isFolded, t }),
    [before, after, isFolded, t],
  )
  const host = useShadowRoot(mount)
  return <div className={workshopStyles.ed} ref={host} />
}

function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <dl className={workshopStyles.fieldchanges}>
      {changes.map(({ path, before, after }) => {
        const parts = diffWords(before, after)
        return (
          <div key={path}>
            <dt>
              <FieldName path={path} />
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
