/** The list of settings pages. It replaces the sidebar; on a phone it is a screen. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import {
  ArrowLeft,
  Bell,
  Building2,
  CircuitBoard,
  Cpu,
  KeyRound,
  Lock,
  type LucideIcon,
  PiggyBank,
  ScrollText,
  Search,
  TriangleAlert,
  User,
  Users,
  Wrench,
} from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { useMembers, useToolServers } from '@/api'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { isComposing } from '@/lib/keys'
import { type PlainTextKey, useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import logoStyles from '@/ui/Logo.module.css'
import layout from '@/ui/layout.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
import { useShell } from './ShellContext'
import { ShellNotifications } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'
import { type Section, sections } from './storageKeys'
import { UsageLink } from './UsageLink'

const icons: Record<Section, LucideIcon> = {
  general: Building2,
  members: Users,
  model: Cpu,
  context: ScrollText,
  tools: Wrench,
  budgets: PiggyBank,
  profile: User,
  notifications: Bell,
  ownModel: CircuitBoard,
  security: Lock,
  tokens: KeyRound,
}

const groups: readonly { title: PlainTextKey; pages: readonly Section[] }[] = [
  { title: 'workspace', pages: ['general', 'members', 'model', 'context', 'tools', 'budgets'] },
  { title: 'settings.you', pages: ['profile', 'notifications', 'ownModel', 'security', 'tokens'] },
]

/** Texts of each page by which the search finds the page. */
const searchableTexts: Record<Section, readonly PlainTextKey[]> = {
  general: ['workspaceName', 'timeZone', 'leave', 'deleteWorkspace'],
  members: ['role', 'inviteLink'],
  model: ['standardModel', 'apiKey', 'whoPays'],
  context: ['field.context_strategy', 'field.context_max_tokens', 'embeddings.model'],
  tools: ['mcp.add', 'mcp.url'],
  budgets: ['budget.limit', 'budget.askAbove', 'price.title'],
  profile: ['yourName', 'handle', 'email', 'language', 'theme', 'signOut'],
  notifications: ['browserNotifications.on'],
  ownModel: ['standardModel', 'apiKey'],
  security: ['changePassword', 'sessions', 'viewings.title'],
  tokens: ['makeToken', 'apiDocs'],
}

export function SettingsSide() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const navigate = useNavigate()
  const handle = workspace.handle
  useActions(() => ({
    'settings.leave': () => void navigate({ to: '/w/$workspace', params: { workspace: handle } }),
  }))
  return (
    <nav data-pane="sidebar" className={sidebarStyles.side} aria-label={t('settings')}>
      <div className={sidebarStyles.top}>
        <Link
          to="/w/$workspace"
          params={{ workspace: handle }}
          className={buttonStyles.ib}
          aria-label={t('leaveSettings')}
          title={t('leaveSettings')}
        >
          <ArrowLeft className="i" aria-hidden />
        </Link>
        <b className="grow">{t('settings')}</b>
        <ShellNotifications />
        <kbd className={blocks.key}>Esc</kbd>
      </div>
      <SettingsList />
      <div className={sidebarStyles.me}>
        <span className={cx(logoStyles.ws, logoStyles.brand, sidebarStyles.mark)}>
          <span className={logoStyles.logo} aria-hidden>
            {Array.from(workspace.name)[0]?.toUpperCase()}
          </span>
        </span>
        <b className="cut grow">{workspace.name}</b>
        <span className="faint xs">{t(`role.${workspace.role}`)}</span>
      </div>
    </nav>
  )
}

/** The settings pages in their groups, filtered by a search. On a phone, which has no sidebar, they include the usage. */
export function SettingsList() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { section } = useSearch({ strict: false })
  const [query, setQuery] = useState('')
  const searchField = useRef<HTMLInputElement>(null)
  const needle = query.trim().toLowerCase()
  const findMatches = (page: Section) =>
    ([`settings.${page}`, ...searchableTexts[page]] as PlainTextKey[])
      .map(key => t(key))
      .filter(text => text.toLowerCase().includes(needle))
  const isUsageMatch = useIsPhone() && t('usage.title').toLowerCase().includes(needle)
  const isMatch = (page: Section) => needle === '' || findMatches(page).length > 0
  useActions(() => ({ 'settings.find': () => searchField.current?.focus() }))
  return (
    <div className={sidebarStyles.settingslist} data-settings>
      <label className={sidebarStyles.find}>
        <Search className="i s" aria-hidden />
        <input
          ref={searchField}
          type="search"
          aria-label={t('findSetting')}
          placeholder={t('findSetting')}
          value={query}
          onChange={event => setQuery(event.target.value)}
          onKeyDown={event => {
            if (isComposing(event)) return
            if (event.key === 'Escape') setQuery('')
            moveFocus(event)
          }}
        />
        <kbd className="only-wide">/</kbd>
      </label>
      <div className={sidebarStyles.scroll}>
        {groups.map(({ title, pages }) =>
          pages.some(isMatch) || (title === 'workspace' && isUsageMatch) ? (
            <div key={title}>
              <h2>{t(title)}</h2>
              {pages.filter(isMatch).map(page => {
                const Icon = icons[page]
                return (
                  <Link
                    key={page}
                    to="/w/$workspace/settings"
                    params={{ workspace: workspace.handle }}
                    search={{ section: page }}
                    className={layout.nav}
                    onKeyDown={moveFocus}
                    aria-current={page === section ? 'page' : undefined}
                  >
                    <Icon className="i" aria-hidden />
                    <span className="cut">{t(`settings.${page}`)}</span>
                    {needle ? (
                      <span className={cx(layout.st, sidebarStyles.hit, 'cut')}>{findMatches(page)[0]}</span>
                    ) : (
                      <PageNote page={page} />
                    )}
                  </Link>
                )
              })}
              {title === 'workspace' && isUsageMatch ? <UsageLink className={layout.nav} /> : null}
            </div>
          ) : null,
        )}
        {sections.some(isMatch) || isUsageMatch ? null : (
          <p className={cx(sidebarStyles.none, 'faint sm')}>{t('nothingFound')}</p>
        )}
      </div>
    </div>
  )
}

/** A note beside the name of a page: the number of members, or that a tool needs a review. */
function PageNote({ page }: { page: Section }) {
  const { t } = useTexts()
  const { workspace } = useShell()
  const members = useMembers(workspace.id).data
  const servers = useToolServers(workspace.id).data ?? []
  if (page === 'members' && members) return <span className={cx(layout.st, 'num')}>{members.length}</span>
  const hasChangedTool = servers.some(server => server.tools.some(tool => tool.off_reason === 'changed'))
  if (page !== 'tools' || !hasChangedTool) return null
  return (
    <span className={layout.st}>
      <TriangleAlert className="i s no" aria-label={t('mcp.needsReview')} />
    </span>
  )
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }

/** Moves the focus with ↑ ↓ between the search field and the pages. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (!step) return
  const list = event.currentTarget.closest('[data-settings]')
  const focusable = [...(list?.querySelectorAll<HTMLElement>('input, a') ?? [])]
  const next = focusable[focusable.indexOf(document.activeElement as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
