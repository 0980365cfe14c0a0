import access from './zh-hant/access'
import accounts from './zh-hant/accounts'
import answers from './zh-hant/answers'
import approvals from './zh-hant/approvals'
import boards from './zh-hant/boards'
import compare from './zh-hant/compare'
import context from './zh-hant/context'
import directory from './zh-hant/directory'
import edits from './zh-hant/edits'
import files from './zh-hant/files'
import history from './zh-hant/history'
import inspector from './zh-hant/inspector'
import keys from './zh-hant/keys'
import mcp from './zh-hant/mcp'
import memory from './zh-hant/memory'
import models from './zh-hant/models'
import notifications from './zh-hant/notifications'
import reactions from './zh-hant/reactions'
import runs from './zh-hant/runs'
import screens from './zh-hant/screens'
import search from './zh-hant/search'
import subAgents from './zh-hant/subAgents'
import suggestions from './zh-hant/suggestions'
import thumbs from './zh-hant/thumbs'
import tools from './zh-hant/tools'
import usage from './zh-hant/usage'
import workshop from './zh-hant/workshop'

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
