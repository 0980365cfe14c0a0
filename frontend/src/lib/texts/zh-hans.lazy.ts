import access from './zh-hans/access'
import accounts from './zh-hans/accounts'
import answers from './zh-hans/answers'
import approvals from './zh-hans/approvals'
import boards from './zh-hans/boards'
import compare from './zh-hans/compare'
import context from './zh-hans/context'
import directory from './zh-hans/directory'
import edits from './zh-hans/edits'
import files from './zh-hans/files'
import history from './zh-hans/history'
import inspector from './zh-hans/inspector'
import keys from './zh-hans/keys'
import mcp from './zh-hans/mcp'
import memory from './zh-hans/memory'
import models from './zh-hans/models'
import notifications from './zh-hans/notifications'
import reactions from './zh-hans/reactions'
import runs from './zh-hans/runs'
import screens from './zh-hans/screens'
import search from './zh-hans/search'
import subAgents from './zh-hans/subAgents'
import suggestions from './zh-hans/suggestions'
import thumbs from './zh-hans/thumbs'
import tools from './zh-hans/tools'
import usage from './zh-hans/usage'
import workshop from './zh-hans/workshop'

export default {
  ...access,
  ...accounts,
  ...answers,
  ...approvals,
  ...boards,
  ...compare,
  ...context,
  ...directory,
  ...edits,
  ...files,
  ...history,
  ...inspector,
  ...keys,
  ...mcp,
  ...memory,
  ...models,
  ...notifications,
  ...reactions,
  ...runs,
  ...screens,
  ...search,
  ...subAgents,
  ...suggestions,
  ...thumbs,
  ...tools,
  ...usage,
  ...workshop,
}
