import { memo, useMemo } from 'react'
import Markdown, { type Components, defaultUrlTransform } from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { splitBlocks } from '@/lib/blocks'
import { remarkHtmlAsText } from './html'
import { type Naming, remarkMentions } from './mentions'
import { CodeBlock, Image, Link, Table } from './parts'

/** No image, no style, no id of theirs: a model's text may format itself and nothing else (D10, D11). */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(tag => !['picture', 'source'].includes(tag)),
  attributes: {
    ...defaultSchema.attributes,
    span: [['className', 'at', 'me'] as [string, ...string[]], 'title'],
    img: ['alt', 'src'],
  },
  protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
}

const components: Components = { a: Link, img: Image, pre: CodeBlock, table: Table }

interface BlockProps {
  text: string
  names: Naming
}

const Block = memo(function Block({ text, names }: BlockProps) {
  const remark = useMemo(() => [remarkGfm, remarkHtmlAsText, remarkMentions(names)], [names])
  return (
    <Markdown
      remarkPlugins={remark}
      rehypePlugins={[[rehypeSanitize, schema]]}
      urlTransform={defaultUrlTransform}
      components={components}
    >
      {text}
    </Markdown>
  )
})

interface ProseProps extends BlockProps {
  /** A text that still grows is drawn block by block, so that only its end is drawn again. */
  growing?: boolean
}

/** Markdown without raw HTML, sanitised last, without anything that loads by itself. */
export function Prose({ text, names, growing }: ProseProps) {
  if (!growing) return <Block text={text} names={names} />
  // biome-ignore lint/suspicious/noArrayIndexKey: a growing text only gets more blocks at its end
  return splitBlocks(text).map((block, index) => <Block key={index} text={block} names={names} />)
}

export default Prose
