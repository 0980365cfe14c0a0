import access from './en/access'
import accounts from './en/accounts'
import approvals from './en/approvals'
import chat from './en/chat'
import compare from './en/compare'
import directory from './en/directory'
import errors from './en/errors'
import files from './en/files'
import history from './en/history'
import mcp from './en/mcp'
import models from './en/models'
import notifications from './en/notifications'
import screens from './en/screens'
import subAgents from './en/subAgents'
import suggestions from './en/suggestions'
import tools from './en/tools'
import usage from './en/usage'
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
  ...approvals,
  ...subAgents,
  ...files,
  ...mcp,
  ...models,
  ...tools,
  ...directory,
  ...usage,
  ...notifications,
  ...errors,
}
