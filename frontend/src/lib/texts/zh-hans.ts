import access from './zh-hans/access'
import accounts from './zh-hans/accounts'
import chat from './zh-hans/chat'
import compare from './zh-hans/compare'
import errors from './zh-hans/errors'
import files from './zh-hans/files'
import history from './zh-hans/history'
import notifications from './zh-hans/notifications'
import screens from './zh-hans/screens'
import suggestions from './zh-hans/suggestions'
import workshop from './zh-hans/workshop'

export default {
  ...screens,
  ...accounts,
  ...access,
  ...workshop,
  ...suggestions,
  ...history,
  ...compare,
  ...chat,
  ...files,
  ...notifications,
  ...errors,
}
