import type { PlainTextKey } from './language'
import { DELEGATE } from './toolNames'

const texts: Record<string, PlainTextKey> = {
  current_time: 'tool.about.current_time',
  web_fetch: 'tool.about.web_fetch',
  web_search: 'tool.about.web_search',
  find_place: 'tool.about.find_place',
  get_forecast: 'tool.about.get_forecast',
  get_exchange_rates: 'tool.about.get_exchange_rates',
  build_budget: 'tool.about.build_budget',
  search_guides: 'tool.about.search_guides',
  search_history: 'tool.about.search_history',
  react: 'tool.about.react',
  send_message: 'tool.about.send_message',
  revise_prompt: 'tool.about.revise_prompt',
  list_files: 'tool.about.list_files',
  read_file: 'tool.about.read_file',
  search_files: 'tool.about.search_files',
  write_file: 'tool.about.write_file',
  read_pages: 'tool.about.read_pages',
  ask_user: 'tool.about.ask_user',
  remember: 'tool.about.remember',
  forget: 'tool.about.forget',
  find_tools: 'tool.about.find_tools',
  [DELEGATE]: 'tool.about.delegate',
}

/**
 * Returns the key of the short text that says for people what a tool of the installation does. The description of a tool
 * is written for models, in English. Other tools have only a description: it is that of their server.
 */
export const getToolTextKey = (tool: string): PlainTextKey | undefined => texts[tool]
