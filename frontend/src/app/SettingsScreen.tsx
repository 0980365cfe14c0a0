import { Navigate, useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useChats, useModel } from '@/api'
import { Profile, Security, Tokens } from '@/features/accounts'
import { BackButton, Links } from '@/features/chats'
import { ContextSettings, EmbeddingSettings } from '@/features/context'
import { BrowserNotifications } from '@/features/notifications'
import { ToolServers } from '@/features/tools'
import { BudgetSettings } from '@/features/usage'
import { General, Members, ModelForm, ModelPolicy, OwnModel } from '@/features/workspaces'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import { LazyPart } from '@/ui/LazyPart'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'
import { useIsPhone } from '@/ui/useIsPhone'
import { SettingsList } from './SettingsSide'
import { useShell } from './ShellContext'
import sidebarStyles from './Sidebar.module.css'
import { useSignOut } from './signOut'
import type { Section } from './storageKeys'
import { useTitle } from './unreadTitle'

/** One page of the settings. On a phone, the list of pages comes first. */
export function SettingsScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { section } = useSearch({ from: '/w/$workspace/settings' })
  const isPhone = useIsPhone()
  const navigate = useNavigate()
  const params = { workspace: workspace.handle }
  useTitle(t(section ? `settings.${section}` : 'settings'))
  if (!section) {
    if (!isPhone)
      return <Navigate to="/w/$workspace/settings" params={params} search={{ section: 'members' }} replace />
    return (
      <main className={cx(layout.stage, sidebarStyles.phonelist)}>
        <header className={layout.bar}>
          <h1 className="cut">{t('settings')}</h1>
        </header>
        <SettingsList />
      </main>
    )
  }
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <BackButton
          label={t('settings')}
          onClick={() => void navigate({ to: '/w/$workspace/settings', params, search: {} })}
        />
        <h1 className="cut">{t(`settings.${section}`)}</h1>
      </header>
      <div className={cx(layout.page, layout.pad)}>
        <div className={layout.column}>{pages[section]}</div>
      </div>
    </main>
  )
}

const pages: Record<Section, ReactNode> = {
  members: <MembersSection />,
  model: <ModelSection />,
  context: <ContextSection />,
  tools: <ToolsSection />,
  budgets: <BudgetsSection />,
  general: <GeneralSection />,
  profile: <ProfileSection />,
  notifications: (
    <LazyPart>
      <BrowserNotifications />
    </LazyPart>
  ),
  ownModel: <OwnModel />,
  security: <SecuritySection />,
  tokens: <Tokens />,
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{title}</h2>
      <div className={blocks.b}>{children}</div>
    </section>
  )
}

function ContextSection() {
  const { workspace } = useShell()
  return (
    <>
      <ContextSettings workspace={workspace} />
      <LazyPart>
        <EmbeddingSettings workspace={workspace} />
      </LazyPart>
    </>
  )
}

function MembersSection() {
  const { t } = useTexts()
  const { workspace } = useShell()
  // Nobody can be invited to a direct chat.
  const chats = (useChats(workspace.id).data ?? []).filter(row => !row.chat.is_direct)
  const [chosenId, setChosenId] = useState('')
  const navigate = useNavigate()
  const params = { workspace: workspace.handle }
  const goToLeave = () => void navigate({ to: '/w/$workspace/settings', params, search: { section: 'general' } })
  const chatId = chosenId || chats[0]?.chat.id
  return (
    <>
      <Members workspace={workspace} onLeave={goToLeave} />
      {workspace.verbs.includes('invite') && chatId ? (
        <section className={blocks.sec}>
          <h2 className={blocks.h}>
            {t('inviteTo')}
            <select
              className={cx(fieldStyles.select, 'end')}
              aria-label={t('chat')}
              value={chatId}
              onChange={event => setChosenId(event.target.value)}
            >
              {chats.map(row => (
                <option key={row.chat.id} value={row.chat.id}>
                  {row.chat.title}
                </option>
              ))}
            </select>
          </h2>
          <div className={blocks.b}>
            <LazyPart>
              <Links key={chatId} chatId={chatId} canInviteEditors={workspace.verbs.includes('change_role')} />
            </LazyPart>
          </div>
        </section>
      ) : null}
    </>
  )
}

function ModelSection() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const query = useModel(workspace.id)
  const model = query.data
  if (!model) return <Loading query={query} />
  if (!workspace.verbs.includes('set_model')) {
    return (
      <>
        <p className={blocks.b}>
          {t('model')}: <b>{model.provider === 'demo' ? t('demoModel') : model.default_model}</b>{' '}
          <span className="faint">{t('editorsChoose')}</span>
        </p>
        <ModelPolicy workspace={workspace} />
      </>
    )
  }
  return (
    <>
      <Card title={t('standardModel')}>
        <RowForm row={model} revision={model.revision}>
          {(model, onSaved) => (
            <ModelForm
              workspaceId={workspace.id}
              current={model}
              action={t('saveChanges')}
              onDone={() => {
                showToast(t('modelSaved'))
                onSaved()
              }}
              onKeyDeleted={onSaved}
            />
          )}
        </RowForm>
      </Card>
      <ModelPolicy workspace={workspace} />
    </>
  )
}

function BudgetsSection() {
  const { workspace } = useShell()
  return (
    <LazyPart>
      <BudgetSettings workspace={workspace} />
    </LazyPart>
  )
}

function ToolsSection() {
  const { workspace } = useShell()
  const { sign_in_failure } = useSearch({ from: '/w/$workspace/settings' })
  const serverId = useLocation({ select: location => location.hash })
  return (
    <LazyPart>
      <ToolServers workspace={workspace} serverId={serverId} signInFailure={sign_in_failure} />
    </LazyPart>
  )
}

function GeneralSection() {
  const { workspace } = useShell()
  const navigate = useNavigate()
  const { history } = useRouter()
  return <General workspace={workspace} onLeft={() => void navigate({ to: '/' })} onGo={path => history.push(path)} />
}

function ProfileSection() {
  const { me } = useShell()
  const { t } = useTexts()
  return (
    <Card title={t('settings.profile')}>
      <Profile me={me} onSignOut={useSignOut()} />
    </Card>
  )
}

function SecuritySection() {
  const { me } = useShell()
  return <Security me={me} onSignOut={useSignOut()} />
}
