import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { keys, useMe, useModel, type WorkspaceRow } from '@/api'
import { LanguageSelect } from '@/features/accounts'
import { AgentForm } from '@/features/agents'
import { ModelForm, NameForm } from '@/features/workspaces'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { Logo } from '@/ui/Logo'

/** A new workspace in under a minute: its name, its model, its first agent, and the chat in which it says hello. */
export function WelcomeScreen() {
  const { t } = useTexts()
  const { workspace: handle, step = 'model' } = useSearch({ from: '/welcome' })
  const client = useQueryClient()
  const navigate = useNavigate()
  const workspace = useMe().data?.workspaces.find(each => each.handle === handle)

  const named = async (made: WorkspaceRow) => {
    await client.invalidateQueries({ queryKey: keys.me })
    void navigate({ to: '/welcome', search: { workspace: made.handle, step: 'model' }, replace: true })
  }
  const at = workspace ? (step === 'model' ? 1 : 2) : 0
  return (
    <div className="onb">
      <nav aria-label={t('steps')}>
        <Logo />
        <ol>
          <Step n={1} at={at} title={t('workspace')} says={workspace?.name ?? t('step.workspace')} />
          <Step
            n={2}
            at={at}
            title={t('model')}
            says={at > 1 && workspace ? <ModelSays id={workspace.id} /> : t('step.model')}
          />
          <Step n={3} at={at} title={t('firstAgent')} says={t('step.agent')} />
          <Step n={4} at={at} title={t('startChat')} says={t('step.chat')} />
        </ol>
        <div className="lang">
          <LanguageSelect />
        </div>
      </nav>
      <main>
        {workspace ? (
          <Next workspace={workspace} step={step} />
        ) : (
          <Head title={t('nameTitle')} lead={t('nameLead')}>
            <NameForm onMade={named} />
          </Head>
        )}
      </main>
    </div>
  )
}

function ModelSays({ id }: { id: string }) {
  const { t } = useTexts()
  const model = useModel(id).data
  if (!model) return null
  return model.provider === 'demo' ? t('demoModel') : model.default_model
}

function Next({ workspace, step }: { workspace: WorkspaceRow; step: 'model' | 'agent' }) {
  const { t } = useTexts()
  const navigate = useNavigate()
  const model = useModel(workspace.id).data
  const params = { workspace: workspace.handle }
  const toAgent = () => void navigate({ to: '/welcome', search: { ...params, step: 'agent' } })
  const toChat = (chat: string | null) =>
    void (chat
      ? navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat }, replace: true })
      : navigate({ to: '/w/$workspace', params, replace: true }))
  if (step === 'model') {
    return (
      <Head title={t('modelTitle')} lead={t('modelLead')}>
        {model ? (
          <ModelForm workspaceId={workspace.id} current={model} action={t('continue')} onDone={toAgent} />
        ) : null}
      </Head>
    )
  }
  return (
    <Head title={t('agentTitle')} lead={t('agentLead')}>
      <AgentForm
        workspaceId={workspace.id}
        large
        action={t('createAndChat')}
        onMade={made => toChat(made.chat_id)}
        aside={
          <Button tone="flat" size="lg" onClick={() => toChat(null)}>
            {t('skipForNow')}
          </Button>
        }
      />
    </Head>
  )
}

function Head({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <>
      <h1 className="headline">{title}</h1>
      <p className="muted lead">{lead}</p>
      {children}
    </>
  )
}

function Step({ n, at, title, says }: { n: number; at: number; title: string; says: ReactNode }) {
  const isDone = n <= at
  return (
    <li className={cx('ob', isDone && 'done', n === at + 1 && 'now')} aria-current={n === at + 1 ? 'step' : undefined}>
      <span className="n">{isDone ? <Check className="i" aria-hidden /> : n}</span>
      <div>
        <b>{title}</b>
        <p>{says}</p>
      </div>
    </li>
  )
}
