import access from './zh-hans/access'
import accounts from './zh-hans/accounts'
import approvals from './zh-hans/approvals'
import chat from './zh-hans/chat'
import compare from './zh-hans/compare'
import directory from './zh-hans/directory'
import errors from './zh-hans/errors'
import files from './zh-hans/files'
import history from './zh-hans/history'
import mcp from './zh-hans/mcp'
import models from './zh-hans/models'
import notifications from './zh-hans/notifications'
import screens from './zh-hans/screens'
import subAgents from './zh-hans/subAgents'
import suggestions from './zh-hans/suggestions'
import tools from './zh-hans/tools'
import usage from './zh-hans/usage'
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
