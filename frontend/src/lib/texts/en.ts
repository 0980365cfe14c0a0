import access from './en/access'
import accounts from './en/accounts'
import chat from './en/chat'
import compare from './en/compare'
import errors from './en/errors'
import files from './en/files'
import history from './en/history'
import notifications from './en/notifications'
import screens from './en/screens'
import suggestions from './en/suggestions'
import workshop from './en/workshop'

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
