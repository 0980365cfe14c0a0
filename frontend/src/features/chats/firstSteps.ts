/** What a chat offers to beginners: example questions, and what to do after an answer of the demo model. */
import type { MessageRow, TextMessageRow } from '@/api'

interface FirstSteps {
  /** The greeting of a new agent, if it has example questions. */
  greeting: TextMessageRow | null
  /** The example questions that nobody has asked in this chat. */
  unasked: readonly string[]
  /** Whether no person has written yet. */
  isUnanswered: boolean
  /** The answer of the demo model at the end of the chat, by the agent of the greeting. */
  answer: TextMessageRow | null
  /** Whether a draft or a later version than the first gave this answer. */
  isImproved: boolean
}

const isText = (row: MessageRow): row is TextMessageRow => row.type === 'TEXT_MESSAGE'
const isDemo = (row: MessageRow) => isText(row) && row.payload.stamp?.provider === 'demo'

/** Returns whether there is anything to offer: a greeting with example questions, or a newest answer by the demo model. */
export function hasFirstSteps(messages: readonly MessageRow[]): boolean {
  const newest = messages.findLast(row => isText(row) && row.payload.stamp)
  return newest ? isDemo(newest) : messages.some(row => isText(row) && row.payload.questions)
}

/** `messages` are sorted oldest first. */
export function findFirstSteps(messages: readonly MessageRow[], isAgent: (id: string) => boolean): FirstSteps {
  const texts = messages.filter(isText)
  const greeting = texts.find(row => row.payload.questions) ?? null
  const asked = texts.filter(row => row.author_id !== null && !isAgent(row.author_id))
  const askedTexts = new Set(asked.map(row => row.payload.text.trim()))
  const last = texts.at(-1)
  const answer = greeting && last && isDemo(last) && last.author_id === greeting.author_id ? last : null
  const stamp = answer?.payload.stamp
  return {
    greeting,
    unasked: (greeting?.payload.questions ?? []).filter(question => !askedTexts.has(question)),
    isUnanswered: asked.length === 0,
    answer,
    isImproved: stamp ? stamp.draft_apply != null || (stamp.version ?? 1) > 1 : false,
  }
}
