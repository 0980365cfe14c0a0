import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import blocks from './blocks.module.css'

/** The text of an error in a red banner. Renders nothing if there is no error. */
export function ErrorBanner({ error }: { error: unknown }) {
  return error ? (
    <div className={cx(blocks.banner, blocks.bad)} role="alert">
      {getErrorText(error)}
    </div>
  ) : null
}
