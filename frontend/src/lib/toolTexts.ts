import type { PlainTextKey } from './language'
import { DELEGATE } from './toolNames'

const texts: Record<string, PlainTextKey> = {
  current_time: 'aboutTool.current_time',
  web_fetch: 'aboutTool.web_fetch',
  web_search: 'aboutTool.web_search',
  find_place: 'aboutTool.find_place',
  get_forecast: 'aboutTool.get_forecast',
  get_exchange_rates: 'aboutTool.get_exchange_rates',
  build_budget: 'aboutTool.build_budget',
  search_guides: 'aboutTool.search_guides',
  search_history: 'aboutTool.search_history',
  react: 'aboutTool.react',
  send_message: 'aboutTool.send_message',
  revise_prompt: 'aboutTool.revise_prompt',
  list_files: 'aboutTool.list_files',
  read_file: 'aboutTool.read_file',
  search_files: 'aboutTool.search_files',
  write_file: 'aboutTool.write_file',
  read_pages: 'aboutTool.read_pages',
  ask_user: 'aboutTool.ask_user',
  remember: 'aboutTool.remember',
  forget: 'aboutTool.forget',
  find_tools: 'aboutTool.find_tools',
  [DELEGATE]: 'aboutTool.delegate',
}

/**
 * Returns the key of the short text that says for people what a tool of the installation does. The description of a tool
 * is written for models, in English. Other tools have only a description: it is that of their server.
 */
export const getToolTextKey = (tool: string): PlainTextKey | undefined => texts[tool]
