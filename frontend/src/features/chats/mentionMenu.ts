/** The mention list of the composer: its options, the selected one, and its keys. */
import { type KeyboardEvent, useMemo, useState } from 'react'
import type { ActorRow } from '@/api'
import { useTexts } from '@/lib/language'
import { ALL_PEOPLE } from './allPeople'
import { useParticipants } from './hooks'
import { filterByName, findMention, getMentionName, insertMention } from './mention'

/** Returns the people and agents of the chat except the reader, and "all" if there is more than one other person. */
export function useMentionable(chatId: string, me: string): ActorRow[] {
  const { t } = useTexts()
  const participants = useParticipants(chatId)
  return useMemo(() => {
    const actors = participants.map(participant => participant.actor).filter(actor => actor.id !== me)
    const people = actors.filter(actor => actor.kind === 'human')
    return people.length > 1 ? [...actors, { ...ALL_PEOPLE, name: t('mentionAll') }] : actors
  }, [participants, me, t])
}

interface MentionInput {
  text: string
  caret: number
  mentionable: readonly ActorRow[]
  write(text: string, caret: number): void
}

const MAX_OPTIONS = 8

export function useMentionMenu({ text, caret, mentionable, write }: MentionInput) {
  const [picked, setPicked] = useState(0)
  /** The position of the mention whose list was closed with Esc. */
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const mention = findMention(text, caret)
  const isOpen = mention !== null && mention.from !== closedAt
  const options = isOpen ? filterByName(mentionable, mention.query).slice(0, MAX_OPTIONS) : []

  const pick = (actor: ActorRow | undefined) => {
    if (!actor || !mention) return
    const next = insertMention(text, caret, mention, getMentionName(mentionable, actor))
    write(next.text, next.caret)
  }
  /** Returns whether the list handled the key. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (options.length === 0) return false
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) setPicked((picked + move + options.length) % options.length)
    else if (event.key === 'Enter' || event.key === 'Tab') pick(options[picked])
    else if (event.key === 'Escape') setClosedAt(mention?.from ?? null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const resetSelection = () => {
    setPicked(0)
    setClosedAt(null)
  }
  return { options, picked, pick, onKey, resetSelection }
}
