import chat from './zh-hant/chat'
import errors from './zh-hant/errors'
import first from './zh-hant/first'

export default {
  ...chat,
  ...errors,
  ...first,
}
