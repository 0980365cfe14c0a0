/** The texts that are loaded with the first lazy part (`ui/lazy.tsx`). */
import access from './en/access'
import accounts from './en/accounts'
import answers from './en/answers'
import approvals from './en/approvals'
import boards from './en/boards'
import compare from './en/compare'
import context from './en/context'
import directory from './en/directory'
import edits from './en/edits'
import files from './en/files'
import history from './en/history'
import inspector from './en/inspector'
import keys from './en/keys'
import mcp from './en/mcp'
import memory from './en/memory'
import models from './en/models'
import notifications from './en/notifications'
import reactions from './en/reactions'
import runs from './en/runs'
import screens from './en/screens'
import search from './en/search'
import subAgents from './en/subAgents'
import suggestions from './en/suggestions'
import thumbs from './en/thumbs'
import tools from './en/tools'
import usage from './en/usage'
import workshop from './en/workshop'

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
