import type { ToolData } from '@/api'
import { cx } from '@/lib/cx'
import { getRunErrorText } from '@/lib/runErrors'
import { FoundMessages, FoundTools, FoundWebPages } from './FoundByTool'
import { ServerAnswer } from './ServerAnswer'
import styles from './ToolCallPart.module.css'
import { WebPageResult } from './WebPageResult'

/** The result of a tool call, built from its structured data instead of its text. */
export function ToolResult({ data }: { data: ToolData }) {
  switch (data.kind) {
    case 'http_response':
    case 'mcp_result':
      return <ServerAnswer answer={data} />
    case 'web_page':
      return <WebPageResult page={data} />
    case 'search_results':
      return <FoundWebPages data={data} />
    case 'found_messages':
      return <FoundMessages data={data} />
    case 'found_tools':
      return <FoundTools data={data} />
    case 'sub_agent':
      return (
        <div className={cx(styles.b, styles.res)}>
          {data.error_code ? getRunErrorText(data.error_code) : data.summary}
        </div>
      )
    default:
      return data satisfies never
  }
}
