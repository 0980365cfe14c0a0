import { useNavigate, useParams } from '@tanstack/react-router'
import { Command, defaultFilter } from 'cmdk'
import {
  AlarmClock,
  Bot,
  GitPullRequestArrow,
  Hash,
  History,
  Keyboard,
  Library,
  ListTree,
  type LucideIcon,
  MessageSquare,
  MessageSquareText,
  MoonStar,
  Paperclip,
  PencilRuler,
  Pin,
  Plus,
  Search,
  Settings,
  Square,
  SquarePen,
  User,
} from 'lucide-react'
import { useMemo, useState } from 'react'
import { type FoundMessage, useAgents, useChats, useChatsBetweenAgents, useMembers, wakeAgent } from '@/api'
import { useParticipants } from '@/features/chats'
import { actions, findActionHandler, formatShortcut, type PaletteActionId, paletteActionIds } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { detectLanguage } from '@/lib/textLanguage'
import { formatShortDate } from '@/lib/time'
import blocks from '@/ui/blocks.module.css'
import { BareDialog } from '@/ui/Dialog'
import { FoundText } from '@/ui/FoundText'
import menuStyles from '@/ui/Menu.module.css'
import { showToast } from '@/ui/toast'
import { useMessageSearch } from './messageSearch'
import styles from './Palette.module.css'
import { useShell } from './ShellContext'
import { sections } from './storageKeys'
import { useOpenDirectChat } from './useOpenDirectChat'

interface Option {
  id: string
  label: string
  end?: string
  icon: LucideIcon
  run(): unknown
}

interface Group {
  title: string
  options: readonly Option[]
}

/** Number of options shown before anything is typed. */
const MAX_UNFILTERED = 40

/** The prefix of the option ids of messages that the server has found. */
const FOUND_PREFIX = 'found '
const ALL_FOUND = `${FOUND_PREFIX}all`
/** The score of messages that the server has found: below that of all options, which are found by their names. */
const LOWEST_SCORE = 1e-6

const filter = (id: string, query: string, keywords: string[] = []) =>
  id.startsWith(FOUND_PREFIX) ? LOWEST_SCORE : defaultFilter(keywords.join(' '), query)

/** The command palette: finds chats, people, agents, pages and messages, and runs the available actions. */
export function Palette({ onClose }: { onClose(): void }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const groups = useGroups()
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState('')
  const search = useMessageSearch(query)
  const found = search.found ?? []
  const label = groups.flatMap(group => group.options).find(option => option.id === selected)?.label
  const message = found.find(one => FOUND_PREFIX + one.message_id === selected)
  const openMessage = useOpenMessage(query)
  const openSearch = useOpenSearch()
  const run = (option: Option) => {
    onClose()
    option.run()
  }
  return (
    <BareDialog open onOpenChange={onClose} title={t('palette')} className={cx(menuStyles.pop, styles.palette)}>
      <Command
        label={t('palette')}
        filter={filter}
        value={selected}
        onValueChange={setSelected}
        loop
        vimBindings={false}
      >
        <div className={styles.q}>
          <Search className="i" aria-hidden />
          <Command.Input placeholder={t('paletteHint')} value={query} onValueChange={setQuery} />
          <span className="faint xs nowrap">{t('inWorkspace', { name: workspace.name })}</span>
        </div>
        <Command.List className={styles.list} label={t('palette')}>
          {(query ? groups : takeFirstOptions(groups)).map(({ title, options }) => (
            <Command.Group key={title} heading={<span className={menuStyles.cap}>{title}</span>}>
              {options.map(option => (
                <OptionRow key={option.id} option={option} query={query} onRun={() => run(option)} />
              ))}
            </Command.Group>
          ))}
          {found.length > 0 ? (
            <Command.Group heading={<span className={menuStyles.cap}>{t('messages')}</span>}>
              {found.map(one => (
                <MessageOption
                  key={one.message_id}
                  message={one}
                  onRun={() => {
                    onClose()
                    openMessage(one)
                  }}
                />
              ))}
              <Command.Item
                value={ALL_FOUND}
                className={cx(menuStyles.opt, styles.option)}
                onSelect={() => {
                  onClose()
                  openSearch(query)
                }}
              >
                <Search className="i" aria-hidden />
                <span className="cut">{t('search.all', { words: query.trim() })}</span>
              </Command.Item>
            </Command.Group>
          ) : null}
          {search.error ? (
            <p className={cx(menuStyles.cap, 'no')}>{t('palette.failed', { reason: getErrorText(search.error) })}</p>
          ) : search.isSearching ? (
            <p className={cx(menuStyles.cap, 'faint')}>{t('palette.searching')}</p>
          ) : (
            <Command.Empty className={cx(menuStyles.cap, 'faint')}>{t('nothingFound')}</Command.Empty>
          )}
        </Command.List>
      </Command>
      {/* Announces the selected row: a screen reader reads it from the field only after an arrow key. */}
      <span className="sr" role="status">
        {[
          label ??
            (message
              ? `${message.author}: ${message.text}`
              : selected === ALL_FOUND
                ? t('search.all', { words: query.trim() })
                : ''),
          search.isSearching
            ? t('palette.searching')
            : found.length > 0
              ? t('palette.found', { count: found.length })
              : '',
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <div className="hint" aria-hidden>
        <span>
          <kbd className={blocks.key}>↑ ↓</kbd>
          {t('choose')}
        </span>
        <span>
          <kbd className={blocks.key}>↵</kbd>
          {t('open')}
        </span>
        <span>
          <kbd className={blocks.key}>Esc</kbd>
          {t('closes')}
        </span>
      </div>
    </BareDialog>
  )
}

function takeFirstOptions(groups: readonly Group[]): Group[] {
  let left = MAX_UNFILTERED
  return groups.flatMap(group => {
    const options = group.options.slice(0, left)
    left -= options.length
    return options.length > 0 ? [{ ...group, options }] : []
  })
}

interface OptionRowProps {
  option: Option
  query: string
  onRun(): void
}

function OptionRow({ option, query, onRun }: OptionRowProps) {
  const { icon: Icon, label, end, id } = option
  return (
    <Command.Item
      value={id}
      keywords={end ? [label, end] : [label]}
      className={cx(menuStyles.opt, styles.option)}
      onSelect={onRun}
    >
      <Icon className="i" aria-hidden />
      <span className="cut">
        <MarkedText text={label} query={query} />
      </span>
      {end ? <span className="end">{end}</span> : null}
    </Command.Item>
  )
}

/** Returns a function that opens the page of a search. */
function useOpenSearch(): (query: string) => void {
  const { workspace } = useShell()
  const navigate = useNavigate()
  return query =>
    void navigate({ to: '/w/$workspace/search', params: { workspace: workspace.handle }, search: { q: query.trim() } })
}

/** Returns a function that opens a message in its place in the chat, where the words of the query are marked. */
function useOpenMessage(query: string): (message: FoundMessage) => void {
  const { workspace } = useShell()
  const navigate = useNavigate()
  return ({ chat_id, message_id }) =>
    void navigate({
      to: '/w/$workspace/c/$chat',
      params: { workspace: workspace.handle, chat: chat_id },
      search: { find: query.trim() },
      hash: message_id,
    })
}

interface MessageOptionProps {
  message: FoundMessage
  onRun(): void
}

/** A message that was found: its author, chat and day, and the part of its text around the words. */
function MessageOption({ message, onRun }: MessageOptionProps) {
  const { workspace } = useShell()
  const { message_id, chat_id, author, text, marks, created_at } = message
  const chat = useChats(workspace.id).data?.find(row => row.chat.id === chat_id)?.chat
  return (
    <Command.Item
      value={FOUND_PREFIX + message_id}
      className={cx(menuStyles.opt, styles.option, styles.message)}
      onSelect={onRun}
    >
      {message.is_file ? <Paperclip className="i" aria-hidden /> : <MessageSquareText className="i" aria-hidden />}
      <span className={styles.excerpt}>
        <span className="cut faint xs">
          <b>{author}</b> · {chat?.title || message.chat_title}
        </span>
        <span className="cut" lang={detectLanguage(text)}>
          <FoundText text={text} marks={marks ?? []} />
        </span>
      </span>
      <span className="end">{formatShortDate(created_at)}</span>
    </Command.Item>
  )
}

/** A text with the first occurrence of the query, or of its first word that occurs. */
function MarkedText({ text, query }: { text: string; query: string }) {
  const parts = [query, ...query.split(/\s+/)].map(words => splitAtMatch(text, words)).find(parts => parts.length > 1)
  return (parts ?? [text]).map((part, index) =>
    index % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
      <mark key={index}>{part}</mark>
    ) : (
      part
    ),
  )
}

/** Splits a label around the first literal occurrence of the query. The part at index 1 is the match. */
function splitAtMatch(label: string, query: string): string[] {
  const needle = query.trim().toLocaleLowerCase()
  const at = needle ? label.toLocaleLowerCase().indexOf(needle) : -1
  if (at < 0) return [label]
  return [label.slice(0, at), label.slice(at, at + needle.length), label.slice(at + needle.length)]
}

const icons: Readonly<Record<PaletteActionId, LucideIcon>> = {
  'suggestions.open': GitPullRequestArrow,
  'directory.open': Library,
  'search.open': Search,
  'search.inChat': Search,
  'versions.open': History,
  'pins.open': Pin,
  'plan.open': ListTree,
  'runs.stop': Square,
  'chat.create': SquarePen,
  'agent.create': Plus,
  'theme.light': MoonStar,
  'theme.dark': MoonStar,
  'theme.system': MoonStar,
  'keys.open': Keyboard,
}

const navigationIds: readonly PaletteActionId[] = [
  'suggestions.open',
  'directory.open',
  'search.open',
  'search.inChat',
  'versions.open',
]

/** Returns an option for each action that is available. */
function useActionOptions(): { id: PaletteActionId; option: Option }[] {
  const { t } = useTexts()
  return useMemo(
    () =>
      paletteActionIds.flatMap(id => {
        const { text, about } = actions[id]
        const handler = text ? findActionHandler(id) : null
        if (!text || !handler) return []
        const label = about ? `${t(about)}: ${t(text)}` : t(text)
        const end = formatShortcut(id)
        return [{ id, option: { id, label, icon: icons[id], run: () => handler(), ...(end ? { end } : {}) } }]
      }),
    [t],
  )
}

function useGroups(): Group[] {
  const { t } = useTexts()
  const { me, workspace } = useShell()
  const navigate = useNavigate()
  const chat = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data
  const betweenAgents = useChatsBetweenAgents(workspace.id, workspace.role === 'editor').data
  const agents = useAgents(workspace.id).data
  const participants = useParticipants(chat ?? '')
  const actionOptions = useActionOptions()
  const members = useMembers(workspace.id).data
  const openDirectChat = useOpenDirectChat()

  return useMemo(() => {
    const params = { workspace: workspace.handle }
    const goToChat = (id: string, workshopAgentId?: string) =>
      void navigate({
        to: '/w/$workspace/c/$chat',
        params: { ...params, chat: id },
        search: workshopAgentId ? { workshop: workshopAgentId } : {},
      })
    const isNavigation = ({ id }: { id: PaletteActionId }) => navigationIds.includes(id)
    return [
      {
        title: t('chats'),
        options: [...(chats ?? []), ...(betweenAgents ?? [])].map(row => ({
          id: row.chat.id,
          icon: row.chat.is_between_agents ? Bot : row.chat.is_direct ? User : Hash,
          label: row.chat.title,
          run: () => goToChat(row.chat.id),
        })),
      },
      {
        title: t('agents'),
        options: (agents ?? []).map(row => ({
          id: row.actor.id,
          icon: Bot,
          label: row.actor.name,
          end: `@${row.actor.handle}`,
          run: () => void navigate({ to: '/w/$workspace/agents/$agent', params: { ...params, agent: row.actor.id } }),
        })),
      },
      {
        title: t('people'),
        options: (members ?? [])
          .filter(({ actor }) => actor.id !== me.actor.id)
          .map(({ actor }) => ({
            id: `message ${actor.id}`,
            icon: User,
            label: actor.name,
            end: `@${actor.handle}`,
            run: () => openDirectChat(actor.id),
          })),
      },
      { title: t('goTo'), options: actionOptions.filter(isNavigation).map(action => action.option) },
      {
        title: t('do'),
        options: [
          ...participants
            .filter(participant => participant.actor.kind === 'agent' && !participant.actor.is_public && chat)
            .map(participant => ({
              id: `workshop ${participant.actor.id}`,
              icon: PencilRuler,
              label: t('openWorkshopOf', { name: participant.actor.name }),
              end: formatShortcut('workshop.toggle'),
              run: () => goToChat(chat ?? '', participant.actor.id),
            })),
          ...participants
            .filter(({ actor }) => actor.kind === 'agent' && !actor.is_taken_down && chat)
            .map(({ chat_id, actor: { id, name } }) => ({
              id: `wake ${id}`,
              icon: AlarmClock,
              label: t('lookAgain', { name }),
              run: () =>
                wakeAgent(chat_id, id, newId()).then(
                  () => showToast(t('lookAgain.done', { name })),
                  (error: unknown) => showToast(getErrorText(error)),
                ),
            })),
          ...(agents ?? []).map(({ actor }) => ({
            id: `message ${actor.id}`,
            icon: MessageSquare,
            label: t('messageWith', { name: actor.name }),
            run: () => openDirectChat(actor.id),
          })),
          ...actionOptions.filter(action => !isNavigation(action)).map(action => action.option),
        ],
      },
      {
        title: t('settings'),
        options: sections.map(section => ({
          id: `settings ${section}`,
          icon: Settings,
          label: t(`settings.${section}`),
          run: () => void navigate({ to: '/w/$workspace/settings', params, search: { section } }),
        })),
      },
    ].filter(group => group.options.length > 0)
  }, [
    t,
    workspace,
    navigate,
    chat,
    chats,
    betweenAgents,
    agents,
    participants,
    actionOptions,
    members,
    openDirectChat,
    me.actor.id,
  ])
}
