/** The mention list while a message is written: what it offers, which line is picked, and its keys. */
import { type KeyboardEvent, useMemo, useState } from 'react'
import type { ActorRow } from '@/api'
import { useTexts } from '@/lib/language'
import { ALL_MEMBERS } from './allMembers'
import { useChatMembers } from './hooks'
import { calledIn, completed, matching, mentionAt } from './mention'

/** Everybody here but the reader, and "all" when there is more than one other person. */
export function useMentionable(chatId: string, me: string): ActorRow[] {
  const { t } = useTexts()
  const members = useChatMembers(chatId)
  return useMemo(() => {
    const actors = members.map(member => member.actor).filter(actor => actor.id !== me)
    const people = actors.filter(actor => actor.kind === 'human')
    return people.length > 1 ? [...actors, { ...ALL_MEMBERS, name: t('allMembers') }] : actors
  }, [members, me, t])
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
  /** Where a mention begins whose list was closed with Esc. */
  const [closedAt, setClosedAt] = useState<number | null>(null)
  const typing = mentionAt(text, caret)
  const isOpen = typing !== null && typing.from !== closedAt
  const options = isOpen ? matching(mentionable, typing.query).slice(0, MAX_OPTIONS) : []

  const pick = (actor: ActorRow | undefined) => {
    if (!actor || !typing) return
    const next = completed(text, caret, typing, calledIn(mentionable, actor))
    write(next.text, next.caret)
  }
  /** True when the key was meant for the list. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (options.length === 0) return false
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) setPicked((picked + move + options.length) % options.length)
    else if (event.key === 'Enter' || event.key === 'Tab') pick(options[picked])
    else if (event.key === 'Escape') setClosedAt(typing?.from ?? null)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const begin = () => {
    setPicked(0)
    setClosedAt(null)
  }
  return { options, picked, pick, onKey, begin }
}
