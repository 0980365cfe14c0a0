import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { type ReactNode, Suspense, useState } from 'react'
import { keys, useMe, useModel, type WorkspaceRow } from '@/api'
import { LanguageSelect } from '@/features/accounts'
import { AgentForm, type AgentPreview } from '@/features/agents'
import { LayerIcon } from '@/features/layers'
import { DeletedWorkspaces, ModelForm, NameForm } from '@/features/workspaces'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Logo } from '@/ui/Logo'
import { Skeleton } from '@/ui/Skeleton'
import { useSignOut } from './signOut'
import welcomeStyles from './Welcome.module.css'

/** The steps to set up a workspace: its name, its model, its first agent, and the first chat with the agent. */
export function WelcomeScreen() {
  const { t } = useTexts()
  const { workspace: handle, step = 'model' } = useSearch({ from: '/welcome' })
  const client = useQueryClient()
  const navigate = useNavigate()
  const workspace = useMe().data?.workspaces.find(row => row.handle === handle)

  const handleNamed = async (made: WorkspaceRow) => {
    await client.invalidateQueries({ queryKey: keys.me })
    void navigate({ to: '/welcome', search: { workspace: made.handle, step: 'model' }, replace: true })
  }
  const currentStep = workspace ? { name: 0, model: 1, agent: 2 }[step] : 0
  const signOut = useSignOut()
  const [preview, setPreview] = useState<AgentPreview | null>(null)
  const isPreviewed = currentStep === 2 && preview !== null
  const finishedSearch = workspace ? { workspace: workspace.handle } : null
  return (
    <div className={cx(welcomeStyles.onb, isPreviewed && welcomeStyles.previewed)}>
      <nav aria-label={t('steps')}>
        <Logo />
        <ol>
          <StepItem
            n={1}
            currentStep={currentStep}
            title={t('workspace')}
            detail={workspace?.name ?? t('step.workspace')}
            to={finishedSearch && { ...finishedSearch, step: 'name' }}
          />
          <StepItem
            n={2}
            currentStep={currentStep}
            title={t('model')}
            detail={currentStep > 1 && workspace ? <ModelSummary id={workspace.id} /> : t('step.model')}
            to={finishedSearch && { ...finishedSearch, step: 'model' }}
          />
          <StepItem n={3} currentStep={currentStep} title={t('firstAgent')} detail={t('step.agent')} />
          <StepItem n={4} currentStep={currentStep} title={t('startChat')} detail={t('step.chat')} />
        </ol>
        <div className={welcomeStyles.leave}>
          <LanguageSelect />
          <Button tone="flat" onClick={signOut}>
            {t('signOut')}
          </Button>
        </div>
      </nav>
      <main>
        {workspace && step !== 'name' ? (
          <ModelOrAgentStep workspace={workspace} step={step} onPreview={setPreview} />
        ) : (
          <StepLayout title={t('nameTitle')} lead={t('nameLead')}>
            <div className="col gap">
              <NameForm key={workspace?.id} made={workspace} onMade={handleNamed} />
              {workspace ? null : (
                <DeletedWorkspaces
                  onRestored={row => void navigate({ to: '/w/$workspace', params: { workspace: row.handle } })}
                />
              )}
            </div>
          </StepLayout>
        )}
      </main>
      {isPreviewed ? <Preview {...preview} /> : null}
    </div>
  )
}

function ModelSummary({ id }: { id: string }) {
  const { t } = useTexts()
  const model = useModel(id).data
  if (!model) return null
  return model.provider === 'demo' ? t('demoModel') : model.default_model
}

interface ModelOrAgentStepProps {
  workspace: WorkspaceRow
  step: 'model' | 'agent'
  onPreview(preview: AgentPreview): void
}

function ModelOrAgentStep({ workspace, step, onPreview }: ModelOrAgentStepProps) {
  const { t } = useTexts()
  const navigate = useNavigate()
  const model = useModel(workspace.id).data
  const params = { workspace: workspace.handle }
  const goToAgentStep = () => void navigate({ to: '/welcome', search: { ...params, step: 'agent' } })
  const goToChat = (chat: string | null) =>
    void (chat
      ? navigate({ to: '/w/$workspace/c/$chat', params: { ...params, chat }, replace: true })
      : navigate({ to: '/w/$workspace', params, replace: true }))
  if (step === 'model') {
    return (
      <StepLayout title={t('modelTitle')} lead={t('modelLead')}>
        {model ? (
          <ModelForm workspaceId={workspace.id} current={model} action={t('continue')} onDone={goToAgentStep} />
        ) : null}
      </StepLayout>
    )
  }
  return (
    <StepLayout title={t('agentTitle')} lead={t('agentLead')}>
      <Suspense fallback={<Skeleton lines={4} label={t('loading')} />}>
        <AgentForm
          workspaceId={workspace.id}
          large
          onPreview={onPreview}
          action={t('createAndChat')}
          onMade={goToChat}
          aside={
            <Button tone="flat" size="lg" onClick={() => goToChat(null)}>
              {t('skipForNow')}
            </Button>
          }
        />
      </Suspense>
    </StepLayout>
  )
}

function StepLayout({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <>
      <h1 className={blocks.headline}>{title}</h1>
      <p className={cx(blocks.lead, 'muted')}>{lead}</p>
      {children}
    </>
  )
}

/** The agent as it would be created: its prompt and its greeting. */
function Preview({ name, avatar, prompt, greeting }: AgentPreview) {
  const { t } = useTexts()
  return (
    <aside aria-label={t('preview')}>
      <h2>{t('previewUnsaved')}</h2>
      <section className={blocks.sec}>
        <h3 className={blocks.h}>
          <LayerIcon layer="writing" />
          {t('prompt')}
        </h3>
        <pre className={blocks.b}>{prompt.trim() || <span className="faint">{t('emptyPrompt')}</span>}</pre>
      </section>
      <div className={welcomeStyles.line}>
        <Avatar id="" name={name} avatar={avatar} square size="l" />
        <div>
          <b>{name || t('agent')}</b> <span className={blocks.badge}>{t('agent')}</span>
          <p>{greeting.replaceAll('{name}', name) || t('step.chat')}</p>
        </div>
      </div>
    </aside>
  )
}

interface StepItemProps {
  n: number
  currentStep: number
  title: string
  detail: ReactNode
  /** Search parameters of a completed step that can be reopened. */
  to?: { workspace: string; step: 'name' | 'model' } | null
}

function StepItem({ n, currentStep, title, detail, to }: StepItemProps) {
  const isDone = n <= currentStep
  return (
    <li
      className={cx(welcomeStyles.ob, isDone && welcomeStyles.done, n === currentStep + 1 && welcomeStyles.now)}
      aria-current={n === currentStep + 1 ? 'step' : undefined}
    >
      <span className={welcomeStyles.n}>{isDone ? <Check className="i" aria-hidden /> : n}</span>
      <div>
        {isDone && to ? (
          <Link className={welcomeStyles.back} to="/welcome" search={to}>
            <b>{title}</b>
          </Link>
        ) : (
          <b>{title}</b>
        )}
        <p>{detail}</p>
      </div>
    </li>
  )
}
