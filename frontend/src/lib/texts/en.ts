/** The texts that are loaded with the first page. A text that only lazy parts use belongs in `en.lazy.ts`. */
import chat from './en/chat'
import errors from './en/errors'
import first from './en/first'

export default {
  ...chat,
  ...errors,
  ...first,
}
