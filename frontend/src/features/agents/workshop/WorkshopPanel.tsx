import { Tabs } from 'radix-ui'
import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { type ActorRow, type AgentRow, type SpecContent, useModel, useModelOffers, type WorkspaceRow } from '@/api'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { pendingSuggestionsPath, suggestionPath } from '@/lib/paths'
import layout from '@/ui/layout.module.css'
import { useIsPhone } from '@/ui/useIsPhone'
import { listEnabledTools } from '../content'
import { ActionsBar } from './ActionsBar'
import { useDraftActions } from './actions'
import { applyOpenDraft } from './applyDraft'
import { CompareDialog } from './CompareDialog'
import { DraftNotices } from './DraftNotices'
import { useWorkshop, type Workshop } from './draftSession'
import { canSave, canWrite, LimitsForm, ModelParametersForm, TeamForm, ToolsForm } from './Forms'
import { LayerBar } from './LayerBar'
import type { PromptHandle } from './PromptEditor'
import { PromptView, useSources, ViewSwitch } from './PromptView'
import { RebaseView } from './RebaseView'
import { SaveDialog } from './SaveDialog'
import { useStartEditing } from './startEditing'
import { isApplyShortcut, useView } from './view'
import workshopStyles from './Workshop.module.css'
import { WorkshopHeader } from './WorkshopHeader'

interface WorkshopPanelProps {
  chatId: string
  workspace: WorkspaceRow
  agent: AgentRow
  /** The agents of this chat that can be opened here, also the open one. */
  agents: readonly ActorRow[]
  me: ActorRow
  findActor(id: string): ActorRow | null
  onAgent(id: string): void
  onClose(): void
  onGoToChat(id: string): void
  /** Navigates to a path of this app. */
  onGo(path: string): void
  /** The initial text of the comparison dialog; null while it is closed. */
  comparedText: string | null
  onComparedText(text: string | null): void
  /** Returns the message that this agent answered last, with which a comparison begins; empty if there is none. */
  getQuestion(): string
  /** Set to move the focus into the prompt once the workshop is open. */
  isPromptFocusRequested: boolean
  onPromptFocused(): void
  /** Set to open the dialog that saves the draft. If nobody edits it, it is opened for editing first. */
  isSaveRequested: boolean
  onSaveHandled(): void
  /** A line to add to the prompt of the draft, which is opened for editing; null if there is none. */
  requestedLine: string | null
  onLineAdded(): void
  /** Called when the draft has been applied. */
  onApplied(): void
  onSaved(): void
  ref?: Ref<WorkshopHandle>
}

export interface WorkshopHandle {
  /** Stores what this person is writing, and applies the draft. Returns whether a draft is applied. */
  apply(): Promise<boolean>
}

/** The workshop of an agent beside the chat: the layers that answer, the draft, and the actions on it. */
export default function WorkshopPanel(props: WorkshopPanelProps) {
  const { t } = useTexts()
  const { chatId, workspace, agent, me, findActor, onGo } = props
  const workshop = useWorkshop(chatId, agent, me)
  const onSuggestion = (id: string) => onGo(suggestionPath(workspace.handle, id))
  const actions = useDraftActions({ chatId, agent, workspaceId: workspace.id, onSuggestion }, workshop)
  const { draft } = workshop
  const isStale = draft !== null && draft.base_version < (agent.spec.number ?? 0)
  const { view, tab, openView, setTab, closeRebase } = useView(isStale)
  const [isSaving, setSaving] = useState(false)
  const prompt = useRef<PromptHandle>(null)
  const sources = useSources(workshop)
  const nameOf = (id: string) => findActor(id)?.name ?? t('unknownPerson')
  const writer = workshop.writer ? findActor(workshop.writer.id) : null
  const isPhone = useIsPhone()

  const close = () => {
    if (workshop.isMine) void actions.release()
    props.onClose()
  }
  /** On a phone this panel hides the chat in which the replies appear. */
  const handleComparisonStarted = () => {
    props.onComparedText(null)
    if (isPhone) props.onClose()
  }
  const startEditing = useStartEditing(workshop, actions, prompt)
  const apply = async () => {
    if (workshop.isMine && (await actions.apply()) && !isPhone) props.onApplied()
  }
  useImperativeHandle(props.ref, () => ({
    apply: () => applyOpenDraft(chatId, agent.actor.id, me.id, workshop, actions),
  }))
  const { isPromptFocusRequested, onPromptFocused } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once for each request
  useEffect(() => {
    if (!isPromptFocusRequested) return
    openView('write')
    // After the editor is rendered.
    setTimeout(() => prompt.current?.focus(), 0)
    onPromptFocused()
  }, [isPromptFocusRequested])
  const save = () => {
    if (!workshop.isMine || !canSave(agent)) return
    // The writer first sees the changes of a newer version.
    if (isStale) openView('rebase')
    else setSaving(true)
  }
  const { isSaveRequested, onSaveHandled } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each request, and again when the draft is opened for editing
  useEffect(() => {
    if (!isSaveRequested) return
    if (workshop.isMine || workshop.writer) {
      save()
      onSaveHandled()
    } else void actions.acquire().then(row => row ?? onSaveHandled())
  }, [isSaveRequested, workshop.isMine])
  const { requestedLine, onLineAdded } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once for each requested line
  useEffect(() => {
    if (requestedLine === null) return
    onLineAdded()
    openView('write')
    startEditing.addLine(requestedLine)
  }, [requestedLine])
  const goToLine = (line: number) => {
    openView('write')
    // After the editor is rendered.
    setTimeout(() => prompt.current?.goTo(line), 0)
  }
  // Registered for the whole page, so that it replaces the browser's "save page" wherever the focus is.
  useActions(() => ({ 'version.save': save }))

  const handleKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!isApplyShortcut(event)) return
    event.preventDefault()
    void apply()
  }

  // `data-kept`: its input survives a reload (`lib/chunkReload.ts`).
  return (
    <aside className={layout.panel} data-pane="workshop" aria-label={t('workshop')} data-kept onKeyDown={handleKeyDown}>
      <WorkshopHeader
        chatId={chatId}
        workspace={workspace}
        agent={agent}
        agents={props.agents}
        onAgent={props.onAgent}
        onClose={close}
        onGo={onGo}
        onCompare={() => props.onComparedText(props.getQuestion())}
      />
      <LayerBar
        agent={agent}
        workspaceId={workspace.id}
        pendingSuggestionsPath={pendingSuggestionsPath(workspace.handle, agent.actor.id)}
        workshop={workshop}
        nameOf={nameOf}
        me={me}
        view={view}
        onView={openView}
        onGo={onGo}
      />
      <Tabs.Root value={tab} onValueChange={setTab} className={workshopStyles.tabsRoot} activationMode="manual">
        <Tabs.List className={workshopStyles.tabs} aria-label={t('spec')}>
          <Tabs.Trigger value="prompt">{t('prompt')}</Tabs.Trigger>
          <Tabs.Trigger value="tools">
            {t('tools')} <span className="faint num">{listEnabledTools(workshop.content).length}</span>
          </Tabs.Trigger>
          <Tabs.Trigger value="model">{t('model')}</Tabs.Trigger>
          <Tabs.Trigger value="limits">{t('limits')}</Tabs.Trigger>
          <Tabs.Trigger value="team">
            {t('team')} <span className="faint num">{workshop.content.team.members.length}</span>
          </Tabs.Trigger>
        </Tabs.List>
        <DraftNotices
          chatId={chatId}
          workspaceId={workspace.id}
          me={me.id}
          agent={agent}
          workshop={workshop}
          actions={actions}
          writer={writer}
          findActor={findActor}
          sources={sources}
          isStale={isStale}
          onRebase={view === 'rebase' && tab === 'prompt' ? null : () => openView('rebase')}
          onLine={goToLine}
          onGoToChat={props.onGoToChat}
        />
        <Tabs.Content value="prompt" className={workshopStyles.tabBody} tabIndex={-1}>
          <ViewSwitch agent={agent} workshop={workshop} view={view} isStale={isStale} onView={openView} />
          {view === 'rebase' && draft ? (
            <RebaseView
              agent={agent}
              draft={draft}
              workshop={workshop}
              actions={actions}
              onDone={() => openView('write')}
            />
          ) : (
            <PromptView
              workshop={workshop}
              view={view}
              writerName={writer?.name ?? ''}
              sources={sources}
              canStartEditing={canWrite(agent) && !workshop.writer && !isPhone}
              onStartEditing={startEditing.type}
              onApply={() => void apply()}
              onSave={save}
              ref={prompt}
            />
          )}
        </Tabs.Content>
        <FormTabs workshop={workshop} workspace={workspace} agentId={agent.actor.id} />
      </Tabs.Root>
      <ActionsBar
        chatId={chatId}
        agent={agent}
        me={me.id}
        workshop={workshop}
        actions={actions}
        writerName={writer?.name ?? ''}
        onEdit={startEditing.start}
        onApply={() => void apply()}
        onSave={save}
      />
      <SaveDialog
        agent={agent}
        workshop={workshop}
        actions={actions}
        open={isSaving}
        onOpenChange={setSaving}
        onStale={() => openView('rebase')}
        onSaved={() => {
          closeRebase()
          props.onSaved()
        }}
      />
      <CompareDialog
        chatId={chatId}
        agent={agent}
        workshop={workshop}
        text={props.comparedText}
        onClose={() => props.onComparedText(null)}
        onStarted={handleComparisonStarted}
      />
    </aside>
  )
}

interface FormTabsProps {
  workshop: Workshop
  workspace: WorkspaceRow
  agentId: string
}

function FormTabs({ workshop, workspace, agentId }: FormTabsProps) {
  const { t } = useTexts()
  const model = useModel(workspace.id).data
  const offers = useModelOffers().data ?? []
  const models = offers.filter(offer => offer.provider === model?.provider).flatMap(offer => offer.models)
  const form = {
    content: workshop.content,
    isReadOnly: !workshop.isMine,
    onEdit: (content: SpecContent) => workshop.edit(content),
  }
  const defaultModel = model?.provider === 'demo' ? t('demoModel') : (model?.default_model ?? '')
  return (
    <>
      <Tabs.Content value="tools" className={cx(workshopStyles.tabBody, workshopStyles.form, workshopStyles.flush)}>
        <ToolsForm
          {...form}
          workspaceId={workspace.id}
          agentId={agentId}
          mayTest={workspace.verbs.includes('set_tools')}
        />
      </Tabs.Content>
      <Tabs.Content value="model" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <ModelParametersForm {...form} models={models} defaultModel={defaultModel} />
      </Tabs.Content>
      <Tabs.Content value="limits" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <LimitsForm {...form} />
      </Tabs.Content>
      <Tabs.Content value="team" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <TeamForm {...form} workspaceId={workspace.id} agentId={agentId} />
      </Tabs.Content>
    </>
  )
}
