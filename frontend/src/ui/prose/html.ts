import type { Root } from 'mdast'
import { visit } from 'unist-util-visit'

/** HTML in a message is shown as it was written, never as HTML. */
export const remarkHtmlAsText = () => (tree: Root) => {
  visit(tree, 'html', (node, index, parent) => {
    if (parent && index !== undefined) parent.children[index] = { type: 'text', value: node.value }
  })
}
