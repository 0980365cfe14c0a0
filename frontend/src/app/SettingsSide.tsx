/** The list of settings: in place of the sidebar; on a phone a screen of its own. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowLeft, Building2, Cpu, KeyRound, Lock, type LucideIcon, Search, User, Users } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { useMembers } from '@/api'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { type PlainTextKey, useTexts } from '@/lib/language'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import logoStyles from '@/ui/Logo.module.css'
import layout from '@/ui/layout.module.css'
import { useShell } from './ShellContext'
import { ShellNotifications } from './Sidebar'
import sidebarStyles from './Sidebar.module.css'
import { type Section, sections } from './storageKeys'

const icons: Record<Section, LucideIcon> = {
  general: Building2,
  members: Users,
  model: Cpu,
  profile: User,
  security: Lock,
  tokens: KeyRound,
}

const groups: readonly { title: PlainTextKey; of: readonly Section[] }[] = [
  { title: 'workspace', of: ['general', 'members', 'model'] },
  { title: 'settings.you', of: ['profile', 'security', 'tokens'] },
]

/** What stands on each page, to be found by its name. */
const inside: Record<Section, readonly PlainTextKey[]> = {
  general: ['workspaceName', 'leave'],
  members: ['role', 'inviteLink'],
  model: ['standardModel', 'apiKey'],
  profile: ['yourName', 'handle', 'email', 'language', 'theme', 'signOut'],
  security: ['changePassword', 'sessions'],
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

/** The pages of the settings in their groups; those in which something of the searched name stands. */
export function SettingsList() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { section } = useSearch({ strict: false })
  const members = useMembers(workspace.id).data
  const [query, setQuery] = useState('')
  const find = useRef<HTMLInputElement>(null)
  const low = query.trim().toLowerCase()
  const hits = (each: Section) =>
    ([`settings.${each}`, ...inside[each]] as PlainTextKey[])
      .map(key => t(key))
      .filter(text => text.toLowerCase().includes(low))
  const isFound = (each: Section) => low === '' || hits(each).length > 0
  useActions(() => ({ 'settings.find': () => find.current?.focus() }))
  return (
    <div className={sidebarStyles.settingslist} data-settings>
      <label className={sidebarStyles.find}>
        <Search className="i s" aria-hidden />
        <input
          ref={find}
          type="search"
          aria-label={t('findSetting')}
          placeholder={t('findSetting')}
          value={query}
          onChange={event => setQuery(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Escape') setQuery('')
            moveFocus(event)
          }}
        />
        <kbd className="only-wide">/</kbd>
      </label>
      <div className={sidebarStyles.scroll}>
        {groups.map(({ title, of }) =>
          of.some(isFound) ? (
            <div key={title}>
              <h2>{t(title)}</h2>
              {of.filter(isFound).map(each => {
                const Icon = icons[each]
                return (
                  <Link
                    key={each}
                    to="/w/$workspace/settings"
                    params={{ workspace: workspace.handle }}
                    search={{ section: each }}
                    className={layout.nav}
                    onKeyDown={moveFocus}
                    aria-current={each === section ? 'page' : undefined}
                  >
                    <Icon className="i" aria-hidden />
                    <span className="cut">{t(`settings.${each}`)}</span>
                    {low ? <span className={cx(layout.st, sidebarStyles.hit, 'cut')}>{hits(each)[0]}</span> : null}
                    {each === 'members' && members && !low ? (
                      <span className={cx(layout.st, 'num')}>{members.length}</span>
                    ) : null}
                  </Link>
                )
              })}
            </div>
          ) : null,
        )}
        {sections.some(isFound) ? null : <p className={cx(sidebarStyles.none, 'faint sm')}>{t('nothingFound')}</p>}
      </div>
    </div>
  )
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }

/** ↑ ↓ go from the search to the pages, and from page to page. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (!step) return
  const list = event.currentTarget.closest('[data-settings]')
  const stops = [...(list?.querySelectorAll<HTMLElement>('input, a') ?? [])]
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
