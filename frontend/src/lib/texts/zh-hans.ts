import chat from './zh-hans/chat'
import errors from './zh-hans/errors'
import first from './zh-hans/first'

export default {
  ...chat,
  ...errors,
  ...first,
}
