/** What a suggestion is called, and other words made of rows. */
import type { SuggestionRow } from '@/api'
import { type TextKey, type Texts, t as texts } from '@/lib/language'

const MOST = 90

const firstLine = (text: string) => {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > MOST ? `${line.slice(0, MOST - 1).trimEnd()}…` : line
}

/** "prompt, tools" in the screen's language. */
export const touchesText = (touches: readonly string[], t: Texts['t'] = texts) =>
  touches.map(each => t(`touches.${each}` as Extract<TextKey, `touches.${string}`>)).join(t('listJoin'))

/** The author's own words when there are some; else what it touches. */
export const titleOf = (row: SuggestionRow, t: Texts['t']) =>
  firstLine(row.note) ||
  (row.touches.length > 0
    ? t('changeOf', { what: touchesText(row.touches, t) })
    : t('changeOfAgent', { name: row.agent.name }))

/** What a conflict is about: a field of the forms, a tool; null for the prompt. */
export function aboutText(about: string, t: Texts['t']): string | null {
  if (about === 'prompt') return null
  const [first, name] = [about.split('.')[0], about.split('.').slice(1).join('.')]
  if (first === 'tools') return `${t('tool')} ${name}`
  return t(`field.${name || first}` as Extract<TextKey, `field.${string}`>)
}
