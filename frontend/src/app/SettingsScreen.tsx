import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, Suspense, useState } from 'react'
import { signOut, useChats, useModel } from '@/api'
import { Profile, Security, Tokens } from '@/features/accounts'
import { Links } from '@/features/chats'
import { General, Members, ModelForm } from '@/features/workspaces'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { stopLive } from '@/realtime'
import { say } from '@/ui/Toasts'
import { sections } from './places'
import { useShell } from './ShellContext'

export function SettingsScreen() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const { section = 'members' } = useSearch({ from: '/w/$workspace/settings' })
  return (
    <main className="stage">
      <header className="bar">
        <h1 className="cut">{t('settings')}</h1>
      </header>
      <nav className="tabs" aria-label={t('settings')}>
        {sections.map(each => (
          <Link
            key={each}
            to="/w/$workspace/settings"
            params={{ workspace: workspace.handle }}
            search={{ section: each }}
            aria-current={each === section ? 'page' : undefined}
            ref={each === section ? intoView : null}
          >
            {t(`settings.${each}`)}
          </Link>
        ))}
      </nav>
      <div className="page pad">
        <div className="column">{bodies[section]}</div>
      </div>
    </main>
  )
}

/** On a phone there are more sections than fit. */
const intoView = (tab: HTMLElement | null) => tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

const bodies: Record<(typeof sections)[number], ReactNode> = {
  members: <MembersSection />,
  model: <ModelSection />,
  general: <GeneralSection />,
  profile: <ProfileSection />,
  security: <SecuritySection />,
  tokens: <Tokens />,
}

function MembersSection() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const chats = useChats(workspace.id).data ?? []
  const [chosen, setChosen] = useState('')
  const chat = chosen || chats[0]?.chat.id
  return (
    <>
      <Members workspace={workspace} />
      {workspace.verbs.includes('invite') && chat ? (
        <section className="sec">
          <h2 className="h">
            {t('inviteTo')}
            <select
              className="select end"
              aria-label={t('chat')}
              value={chat}
              onChange={event => setChosen(event.target.value)}
            >
              {chats.map(each => (
                <option key={each.chat.id} value={each.chat.id}>
                  {each.chat.title}
                </option>
              ))}
            </select>
          </h2>
          <div className="b">
            <Suspense fallback={null}>
              <Links key={chat} chatId={chat} />
            </Suspense>
          </div>
        </section>
      ) : null}
    </>
  )
}

function ModelSection() {
  const { t } = useTexts()
  const { workspace } = useShell()
  const model = useModel(workspace.id).data
  if (!model) return null
  if (!workspace.verbs.includes('set_model')) {
    return (
      <p>
        {t('model')}: <b>{model.provider === 'demo' ? t('demoModel') : model.default_model}</b>{' '}
        <span className="faint">{t('editorsChoose')}</span>
      </p>
    )
  }
  return (
    <ModelForm
      key={model.revision}
      workspaceId={workspace.id}
      current={model}
      action={t('saveChanges')}
      onDone={() => say(t('modelSaved'))}
    />
  )
}

function GeneralSection() {
  const { workspace } = useShell()
  const navigate = useNavigate()
  return <General key={workspace.revision} workspace={workspace} onLeft={() => void navigate({ to: '/' })} />
}

function useSignOut(): () => void {
  const client = useQueryClient()
  const leave = async () => {
    try {
      await signOut()
      stopLive()
      client.clear()
      location.assign('/sign-in')
    } catch (error) {
      say(textOfError(error))
    }
  }
  return () => void leave()
}

function ProfileSection() {
  const { me } = useShell()
  return <Profile me={me} onSignOut={useSignOut()} />
}

function SecuritySection() {
  const { me } = useShell()
  return <Security me={me} onSignOut={useSignOut()} />
}
