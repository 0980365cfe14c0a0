import { useNavigate, useParams } from '@tanstack/react-router'
import { Command, defaultFilter } from 'cmdk'
import {
  Bot,
  GitPullRequestArrow,
  Hash,
  History,
  Keyboard,
  type LucideIcon,
  MoonStar,
  PencilRuler,
  Plus,
  Search,
  Settings,
  Square,
  SquarePen,
} from 'lucide-react'
import { useMemo, useState } from 'react'
import { useAgents, useChats } from '@/api'
import { useChatMembers } from '@/features/chats'
import { type ActionId, actionIds, actions, findRun, keysOf } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'
import { BareDialog } from '@/ui/Dialog'
import menuStyles from '@/ui/Menu.module.css'
import styles from './Palette.module.css'
import { useShell } from './ShellContext'
import { sections } from './storageKeys'

interface Option {
  id: string
  label: string
  end?: string
  icon: LucideIcon
  run(): void
}

interface Group {
  title: string
  options: readonly Option[]
}

/** As many are drawn before anything is typed. */
const MAX_UNFILTERED = 40

const filter = (_id: string, query: string, keywords: string[] = []) => defaultFilter(keywords.join(' '), query)

/** Goes anywhere, and does what can be done here and now. */
export function Palette({ onClose }: { onClose(): void }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const groups = useGroups()
  const [query, setQuery] = useState('')
  const [selected, setSelected] = useState('')
  const label = groups.flatMap(group => group.options).find(option => option.id === selected)?.label
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
          {(query ? groups : firstOf(groups)).map(({ title, options }) => (
            <Command.Group key={title} heading={<span className={menuStyles.cap}>{title}</span>}>
              {options.map(option => (
                <Line key={option.id} option={option} query={query} onRun={() => run(option)} />
              ))}
            </Command.Group>
          ))}
          <Command.Empty className={cx(menuStyles.cap, 'faint')}>{t('nothingFound')}</Command.Empty>
        </Command.List>
      </Command>
      {/* Announces the selected row: a screen reader reads it from the field only after an arrow key. */}
      <span className="sr" role="status">
        {label}
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

function firstOf(groups: readonly Group[]): Group[] {
  let left = MAX_UNFILTERED
  return groups.flatMap(group => {
    const options = group.options.slice(0, left)
    left -= options.length
    return options.length > 0 ? [{ ...group, options }] : []
  })
}

interface LineProps {
  option: Option
  query: string
  onRun(): void
}

function Line({ option, query, onRun }: LineProps) {
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
        {splitAtMatch(label, query).map((part, index) =>
          index % 2 ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other name
            <mark key={index}>{part}</mark>
          ) : (
            part
          ),
        )}
      </span>
      {end ? <span className="end">{end}</span> : null}
    </Command.Item>
  )
}

/** A label cut where the query stands in it as it was typed: odd parts are the matches. */
function splitAtMatch(label: string, query: string): string[] {
  const wanted = query.trim().toLocaleLowerCase()
  const at = wanted ? label.toLocaleLowerCase().indexOf(wanted) : -1
  if (at < 0) return [label]
  return [label.slice(0, at), label.slice(at, at + wanted.length), label.slice(at + wanted.length)]
}

const icons: Partial<Record<ActionId, LucideIcon>> = {
  'suggestions.open': GitPullRequestArrow,
  'versions.open': History,
  'runs.stop': Square,
  'chat.create': SquarePen,
  'agent.create': Plus,
  'theme.light': MoonStar,
  'theme.dark': MoonStar,
  'theme.system': MoonStar,
  'keys.open': Keyboard,
}

const navigationIds: readonly ActionId[] = ['suggestions.open', 'versions.open']

/** The actions of the table that have a name and can be done now. */
function useActionOptions(): { id: ActionId; option: Option }[] {
  const { t } = useTexts()
  return useMemo(
    () =>
      actionIds.flatMap(id => {
        const { text, about } = actions[id]
        const run = text ? findRun(id) : null
        if (!text || !run) return []
        const label = about ? `${t(about)}: ${t(text)}` : t(text)
        const end = keysOf(id)
        return [{ id, option: { id, label, icon: icons[id] ?? Square, run: () => run(), ...(end ? { end } : {}) } }]
      }),
    [t],
  )
}

function useGroups(): Group[] {
  const { t } = useTexts()
  const { workspace } = useShell()
  const navigate = useNavigate()
  const chat = useParams({ strict: false }).chat
  const chats = useChats(workspace.id).data
  const agents = useAgents(workspace.id).data
  const members = useChatMembers(chat ?? '')
  const offered = useActionOptions()

  return useMemo(() => {
    const params = { workspace: workspace.handle }
    const goToChat = (id: string, shop?: string) =>
      void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat: id }, search: shop ? { shop } : {} })
    const isNavigation = ({ id }: { id: ActionId }) => navigationIds.includes(id)
    return [
      {
        title: t('chats'),
        options: (chats ?? []).map(each => ({
          id: each.chat.id,
          icon: Hash,
          label: each.chat.title,
          run: () => goToChat(each.chat.id),
        })),
      },
      {
        title: t('agents'),
        options: (agents ?? []).map(each => ({
          id: each.actor.id,
          icon: Bot,
          label: each.actor.name,
          end: `@${each.actor.handle}`,
          run: () => void navigate({ to: '/w/$workspace/agents/$agent', params: { ...params, agent: each.actor.id } }),
        })),
      },
      { title: t('goTo'), options: offered.filter(isNavigation).map(each => each.option) },
      {
        title: t('do'),
        options: [
          ...members
            .filter(member => member.actor.kind === 'agent' && chat)
            .map(member => ({
              id: `workshop ${member.actor.id}`,
              icon: PencilRuler,
              label: t('openWorkshopOf', { name: member.actor.name }),
              end: keysOf('workshop.toggle'),
              run: () => goToChat(chat ?? '', member.actor.id),
            })),
          ...offered.filter(each => !isNavigation(each)).map(each => each.option),
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
  }, [t, workspace, navigate, chat, chats, agents, members, offered])
}
