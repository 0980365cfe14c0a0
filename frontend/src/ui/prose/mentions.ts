import type { Root, RootContent, Text } from 'mdast'
import { SKIP, visit } from 'unist-util-visit'

/** Whom a handle names, and whether that is the reader. */
export type Naming = (handle: string) => { name: string; isMe: boolean } | null

const mention = /(^|[^\p{L}\p{N}_@/])@([\p{L}\p{N}_-]+)/gu

interface Piece {
  text: string
  handle: string | null
}

/** Cuts a text at its mentions; only what `names` knows is one. */
export function piecesOf(text: string, names: Naming): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(mention)) {
    const handle = match[2] ?? ''
    if (!names(handle)) continue
    const at = match.index + (match[1]?.length ?? 0)
    pieces.push({ text: text.slice(from, at), handle: null }, { text: `@${handle}`, handle })
    from = at + handle.length + 1
  }
  pieces.push({ text: text.slice(from), handle: null })
  return pieces.filter(piece => piece.text !== '')
}

/** Markdown's tree with mentions drawn as such, by name. The sanitiser runs after it. */
export function remarkMentions(names: Naming) {
  return () => (tree: Root) => {
    visit(tree, 'text', (node: Text, index, parent) => {
      if (!parent || index === undefined || parent.type === 'link' || !node.value.includes('@')) return undefined
      const nodes = piecesOf(node.value, names).map(piece => nodeOf(piece, names))
      parent.children.splice(index, 1, ...nodes)
      return [SKIP, index + nodes.length]
    })
  }
}

function nodeOf(piece: Piece, names: Naming): RootContent {
  const who = piece.handle === null ? null : names(piece.handle)
  if (!who) return { type: 'text', value: piece.text }
  const hProperties = { className: who.isMe ? ['at', 'me'] : ['at'], title: piece.text }
  return { type: 'emphasis', data: { hName: 'span', hProperties }, children: [{ type: 'text', value: `@${who.name}` }] }
}
