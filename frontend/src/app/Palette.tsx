import { useNavigate, useParams } from '@tanstack/react-router'
import {
  Bot,
  GitPullRequestArrow,
  Hash,
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
import { Fragment, type KeyboardEvent, useMemo, useState } from 'react'
import { stopRun, useAgents, useChats } from '@/api'
import { usePlaces } from '@/features/chats'
import { chord } from '@/lib/keys'
import { useTexts } from '@/lib/language'
import { chooseTheme, themes, useTheme } from '@/lib/theme'
import { chatState, isActive } from '@/realtime'
import { BareDialog } from '@/ui/Dialog'
import { type Entry, found, marked } from './find'
import { sections } from './places'
import { useShell } from './ShellContext'

interface Option extends Entry {
  group: string
  icon: LucideIcon
  end?: string
  run(): void
}

interface PaletteProps {
  onClose(): void
  onKeys(): void
}

/** Goes anywhere, and does what can be done here and now. */
export function Palette({ onClose, onKeys }: PaletteProps) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const options = useOptions(onKeys)
  const [query, setQuery] = useState('')
  const [picked, setPicked] = useState(0)
  const shown = useMemo(() => found(options, query).slice(0, 40), [options, query])
  const run = (option: Option | undefined) => {
    if (!option) return
    onClose()
    option.run()
  }
  const onKey = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move && shown.length > 0) setPicked((picked + move + shown.length) % shown.length)
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) run(shown[picked])
    else return
    event.preventDefault()
  }
  return (
    <BareDialog open onOpenChange={onClose} title={t('palette')} className="pop palette">
      <div className="q">
        <Search className="i" aria-hidden />
        <input
          role="combobox"
          aria-label={t('palette')}
          aria-expanded
          aria-controls="palette"
          aria-activedescendant={shown[picked] ? `palette-${picked}` : undefined}
          placeholder={t('paletteHint')}
          value={query}
          onKeyDown={onKey}
          onChange={event => {
            setQuery(event.target.value)
            setPicked(0)
          }}
        />
        <span className="faint xs nowrap">{t('inWorkspace', { name: workspace.name })}</span>
      </div>
      <div className="list" id="palette" role="listbox" aria-label={t('palette')}>
        {shown.map((option, index) => (
          <Fragment key={option.id}>
            {option.group !== shown[index - 1]?.group ? (
              <div className="cap" role="presentation">
                {option.group}
              </div>
            ) : null}
            <Line
              option={option}
              query={query}
              id={`palette-${index}`}
              isPicked={index === picked}
              onRun={() => run(option)}
              onPoint={() => setPicked(index)}
            />
          </Fragment>
        ))}
        {shown.length === 0 ? <p className="faint cap">{t('nothingFound')}</p> : null}
      </div>
      <div className="hint" aria-hidden>
        <span>
          <kbd className="key">↑ ↓</kbd>
          {t('choose')}
        </span>
        <span>
          <kbd className="key">↵</kbd>
          {t('open')}
        </span>
        <span>
          <kbd className="key">Esc</kbd>
          {t('close')}
        </span>
      </div>
    </BareDialog>
  )
}

interface LineProps {
  option: Option
  query: string
  id: string
  isPicked: boolean
  onRun(): void
  onPoint(): void
}

function Line({ option, query, id, isPicked, onRun, onPoint }: LineProps) {
  const { icon: Icon } = option
  return (
    <div
      role="option"
      id={id}
      tabIndex={-1}
      aria-selected={isPicked}
      className="opt"
      ref={element => {
        if (isPicked) element?.scrollIntoView({ block: 'nearest' })
      }}
      onMouseMove={onPoint}
      onClick={onRun}
      onKeyDown={undefined}
    >
      <Icon className="i" aria-hidden />
      <span className="cut">
        {marked(option.label, query).map((part, index) =>
          index % 2 ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
            <mark key={index}>{part}</mark>
          ) : (
            part
          ),
        )}
      </span>
      {option.end ? <span className="end">{option.end}</span> : null}
    </div>
  )
}

function useOptions(onKeys: () => void): Option[] {
  const { t } = useTexts()
  const { workspace, newChat, newAgent } = useShell()
  const navigate = useNavigate()
  const chat = useParams({ strict: false }).chat
  const theme = useTheme()
  const chats = useChats(workspace.id).data
  const agents = useAgents(workspace.id).data
  const inRoom = usePlaces(chat ?? '')

  return useMemo(() => {
    const params = { workspace: workspace.handle }
    const goChat = (id: string, shop?: string) =>
      void navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat: id }, search: shop ? { shop } : {} })
    const working = chat ? [...chatState(chat).runs.values()].filter(isActive) : []
    const does: Option[] = [
      ...inRoom
        .filter(place => place.actor.kind === 'agent' && chat)
        .map(place => ({
          id: `shop ${place.actor.id}`,
          group: t('do'),
          icon: PencilRuler,
          label: t('openWorkshopOf', { name: place.actor.name }),
          end: chord('.'),
          run: () => goChat(chat ?? '', place.actor.id),
        })),
      ...(working.length > 0
        ? [
            {
              id: 'stop',
              group: t('do'),
              icon: Square,
              label: t('stopAll'),
              run: () => working.forEach(each => void stopRun(each.id)),
            },
          ]
        : []),
      { id: 'new chat', group: t('do'), icon: SquarePen, label: t('newChat'), run: () => newChat() },
      ...(workspace.verbs.includes('create_agent')
        ? [{ id: 'new agent', group: t('do'), icon: Plus, label: t('newAgent'), run: newAgent }]
        : []),
      ...themes
        .filter(each => each !== theme)
        .map(each => ({
          id: `theme ${each}`,
          group: t('do'),
          icon: MoonStar,
          label: `${t('theme')}: ${t(`theme.${each}`)}`,
          run: () => chooseTheme(each),
        })),
      { id: 'keys', group: t('do'), icon: Keyboard, label: t('keys'), end: '?', run: onKeys },
    ]
    return [
      ...(chats ?? []).map(each => ({
        id: each.chat.id,
        group: t('chats'),
        icon: Hash,
        label: each.chat.title,
        run: () => goChat(each.chat.id),
      })),
      ...(agents ?? []).map(each => ({
        id: each.actor.id,
        group: t('agents'),
        icon: Bot,
        label: each.actor.name,
        end: `@${each.actor.handle}`,
        run: () => void navigate({ to: '/w/$workspace/agents/$agent', params: { ...params, agent: each.actor.id } }),
      })),
      {
        id: 'suggestions',
        group: t('goTo'),
        icon: GitPullRequestArrow,
        label: t('suggestions'),
        end: 'G S',
        run: () => void navigate({ to: '/w/$workspace/suggestions', params, search: {} }),
      },
      ...does,
      ...sections.map(section => ({
        id: `settings ${section}`,
        group: t('settings'),
        icon: Settings,
        label: t(`settings.${section}`),
        run: () => void navigate({ to: '/w/$workspace/settings', params, search: { section } }),
      })),
    ]
  }, [t, workspace, navigate, chat, theme, chats, agents, inRoom, newChat, newAgent, onKeys])
}
