/** The styles of the prompt editor. Custom properties of the page apply in the shadow tree; its rules do not. */
import { defineLanguageFacet, HighlightStyle, Language, syntaxHighlighting } from '@codemirror/language'
import { type Extension, Prec } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { parser } from '@lezer/markdown'

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--fg)', backgroundColor: 'transparent', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none', boxShadow: 'inset 0 0 0 1px var(--pine)' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    lineHeight: 'var(--editor-line, 20px)',
    fontVariantLigatures: 'none',
  },
  '.cm-content': { padding: '6px 0 16px', caretColor: 'var(--writing-solid)' },
  '.cm-line': { padding: '0 16px 0 4px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--fg-faint)', border: '0', fontSize: '11px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '36px', padding: '0 8px 0 4px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--writing-bg)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--fg)' },
  '.cm-cursor': { borderLeftColor: 'var(--writing-solid)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--pine-bg)',
  },
  '.cm-placeholder': { color: 'var(--fg-faint)' },
  '.cm-layer-gutter': { width: '3px' },
  '.cm-layer-gutter .cm-gutterElement': { padding: '0' },
  '.layer': { height: '100%', width: '3px' },
  '.layer.applied': { backgroundColor: 'var(--applied-solid)' },
  '.layer.writing': { backgroundColor: 'var(--writing-solid)' },
  '.cm-gutters-after': { maxWidth: '30%' },
  '.cm-source-gutter .cm-gutterElement': { padding: '0' },
  '.source': { height: '100%', borderLeft: '3px solid var(--sugg-solid)', paddingLeft: '6px' },
  '.source span': {
    display: 'inline-block',
    maxWidth: '84px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    verticalAlign: 'top',
    font: '500 11px/var(--editor-line, 20px) var(--font-ui)',
    color: 'var(--sugg-fg)',
    paddingRight: '6px',
  },
  '.source i': {
    display: 'inline-block',
    width: '6px',
    height: '6px',
    margin: '7px 5px 0 1px',
    transform: 'rotate(45deg)',
    borderRadius: '1px',
    background: 'var(--sugg-solid)',
    verticalAlign: 'top',
  },
  '.source.writing': { borderLeftColor: 'var(--writing-solid)' },
  '.source.writing span': { color: 'var(--writing-fg)' },
  '.source.writing i': {
    width: '2px',
    height: '9px',
    margin: '6px 7px 0 3px',
    transform: 'none',
    background: 'var(--writing-solid)',
  },
  '.flag': { position: 'relative', borderLeft: '2px solid var(--writing-solid)', marginLeft: '-1px' },
  '.flag::after': {
    content: 'attr(data-name)',
    position: 'absolute',
    top: '0',
    left: '0',
    padding: '0 5px',
    background: 'var(--writing-solid)',
    color: 'var(--on-writing)',
    font: '500 11px/16px var(--font-ui)',
    borderRadius: '0 3px 3px 0',
    whiteSpace: 'nowrap',
    zIndex: '2',
  },
})

/** Folded lines that are the same on both sides. Our fonts lack the characters that the editor puts beside the text. */
const unchanged = {
  '.cm-collapsedLines': {
    background: 'var(--bg-sunken) !important',
    color: 'var(--fg-faint)',
    font: '12px/20px var(--font-ui)',
    padding: '2px 16px',
  },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"⋯"', color: 'var(--fg-faint)' },
}

/** Deleted lines are grey, added lines have the colour of the layer; each has a minus or plus sign. */
const diffTheme = EditorView.theme({
  '.cm-changedLine': { backgroundColor: 'var(--l-bg) !important', boxShadow: 'inset 3px 0 var(--l)' },
  '.cm-changedText': { background: 'var(--l-line) !important', borderRadius: '2px' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bg-hover) !important', color: 'var(--fg-muted)', paddingLeft: '4px' },
  '.cm-deletedChunk .cm-deletedText': {
    background: 'var(--bg-active) !important',
    textDecoration: 'line-through',
    textDecorationColor: 'var(--fg-faint)',
  },
  '.cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
  // A hanging indent for the sign, so that wrapped lines align with the text.
  '.cm-line': { paddingLeft: '20px' },
  '.cm-deletedLine': { paddingLeft: '16px' },
  '.cm-line::before, .cm-deletedLine::before': { display: 'inline-block', width: '16px', marginLeft: '-16px' },
  '.cm-deletedLine::before': { content: '"−"', color: 'var(--fg-faint)' },
  '.cm-changedLine::before': { content: '"+"', color: 'var(--l-fg)' },
  '.cm-line:not(.cm-changedLine)::before': { content: '" "' },
  '.cm-changeGutter': { display: 'none' },
  ...unchanged,
})

const highlight = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.monospace, color: 'var(--pine)' },
  { tag: [tags.link, tags.url], color: 'var(--pine)' },
])

/** Markdown without the languages of code fences, which would be larger than the editor. */
const markdown = new Language(defineLanguageFacet(), parser, [], 'markdown')

export const editorTheme: Extension = [theme, markdown, syntaxHighlighting(highlight), EditorView.lineWrapping]
export const diffRules: Extension = Prec.high(diffTheme)
