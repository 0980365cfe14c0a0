import {
  BookOpen,
  Clock,
  FilePlus,
  FileSearch,
  FileText,
  Folder,
  Globe,
  ListChecks,
  type LucideIcon,
  MessageCircleQuestion,
  MessageSquareText,
  PenLine,
  Search,
  Send,
  Workflow,
  Wrench,
} from 'lucide-react'
import { DELEGATE, isAgentTool } from './toolNames'

const icons: Record<string, LucideIcon> = {
  current_time: Clock,
  web_fetch: Globe,
  web_search: Search,
  search_history: MessageSquareText,
  find_tools: Search,
  send_message: Send,
  revise_prompt: PenLine,
  list_files: Folder,
  read_file: FileText,
  search_files: FileSearch,
  write_file: FilePlus,
  read_pages: BookOpen,
  ask_user: MessageCircleQuestion,
  [DELEGATE]: Workflow,
  plan_tasks: ListChecks,
}

/** Returns the icon of a tool, by its name; a wrench for a tool that has no icon of its own. */
export const getToolIcon = (tool: string): LucideIcon => icons[tool] ?? (isAgentTool(tool) ? Workflow : Wrench)
