const fence = /^ {0,3}(`{3,}|~{3,})/

/** A line that goes on with the block above it, although an empty line stands between. */
const continues = (line: string) => /^( {2,}|\t| *([-*+]|\d+[.)]) )/.test(line)

/**
 * Markdown cut into top-level blocks, so that a growing text draws only its last block again.
 * Never cuts inside a fence or a list; blocks joined by empty lines are the text again.
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[][] = [[]]
  let open: string | null = null
  const lines = text.split('\n')
  lines.forEach((line, index) => {
    const block = blocks.at(-1) as string[]
    const mark = fence.exec(line)?.[1]
    if (mark && open === null) open = mark
    else if (mark && open !== null && mark.startsWith(open)) open = null
    if (line.trim() === '' && open === null && block.length > 0 && !continues(lines[index + 1] ?? '')) blocks.push([])
    else if (line.trim() !== '' || block.length > 0) block.push(line)
  })
  return blocks.map(block => block.join('\n').trimEnd()).filter(block => block !== '')
}
