import { ArrowLeft, ChevronDown, Columns2, History, X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import {
  type ReactNode,
  type Ref,
  useDeferredValue,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import {
  type ActorRow,
  type AgentRow,
  type Provenance,
  type SpecContent,
  useModel,
  useModelOffers,
  type WorkspaceRow,
} from '@/api'
import { LayerIcon } from '@/features/layers'
import { useActions } from '@/lib/actions'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { pendingPath, suggestionPath } from '@/lib/paths'
import { formatNumber } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { IconButton } from '@/ui/Button'
import layout from '@/ui/layout.module.css'
import { Menu, MenuItem } from '@/ui/Menu'
import { Segments } from '@/ui/Segments'
import { useIsPhone } from '@/ui/useIsPhone'
import { isSameContent, listEnabledTools } from '../content'
import { buildHistoryPath } from '../history/pair'
import { ActionsBar } from './ActionsBar'
import { useDraftActions } from './actions'
import { CompareDialog } from './CompareDialog'
import { DiffView } from './DiffView'
import { DraftNotices } from './DraftNotices'
import { useWorkshop, type Workshop } from './draftSession'
import { canSave, canWrite, LimitsForm, ModelForm, ToolsForm } from './Forms'
import { LayerBar, type WorkshopView } from './LayerBar'
import { countUnifiedChanges } from './layerGutter'
import { PromptEditor, type PromptHandle } from './PromptEditor'
import { findSources, getOriginLayer, type Sources } from './provenance'
import type { SourceMark } from './provenanceGutter'
import { RebaseView } from './RebaseView'
import { SaveDialog } from './SaveDialog'
import { formatContributors } from './SourcesPanel'
import { useStartEditing } from './startEditing'
import workshopStyles from './Workshop.module.css'

interface WorkshopPanelProps {
  chatId: string
  workspace: WorkspaceRow
  agent: AgentRow
  /** The other agents of this chat that can be opened here. */
  agents: readonly ActorRow[]
  me: ActorRow
  findActor(id: string): ActorRow | null
  onAgent(id: string): void
  onClose(): void
  onGoToChat(id: string): void
  /** Navigates to a path of this app. */
  onGo(path: string): void
  /** The initial text of the comparison dialog; null while it is closed. */
  comparing: string | null
  onComparing(text: string | null): void
  /** Set to move the focus into the prompt once the workshop is open. */
  isPromptFocusRequested: boolean
  onPromptFocused(): void
  /** Called when the draft has been applied. */
  onApplied(): void
  onSaved(): void
  ref?: Ref<WorkshopHandle>
}

export interface WorkshopHandle {
  /** Applies the draft if this person is editing it and it is not applied yet. Returns false if that failed. */
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
  const { view, tab, openView, setTab } = useView(isStale)
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
    props.onComparing(null)
    if (isPhone) props.onClose()
  }
  const startEditing = useStartEditing(workshop, actions, prompt)
  const apply = async () => {
    if (workshop.isMine && (await actions.apply()) && !isPhone) props.onApplied()
  }
  useImperativeHandle(props.ref, () => ({
    apply: async () => {
      const isApplied = workshop.applied !== null && isSameContent(workshop.applied, workshop.content)
      return !workshop.isMine || isApplied || (await actions.apply()) !== null
    },
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
  const goToLine = (line: number) => {
    openView('write')
    // After the editor is rendered.
    setTimeout(() => prompt.current?.goTo(line), 0)
  }
  // Registered for the whole page, so that it replaces the browser's "save page" wherever the focus is.
  useActions(() => ({ 'version.save': save }))

  return (
    <aside className={layout.panel} data-pane="workshop" aria-label={t('workshop')} data-kept>
      <WorkshopHeader {...props} onClose={close} onCompare={() => props.onComparing('')} />
      <LayerBar
        agent={agent}
        workspaceId={workspace.id}
        pendingPath={pendingPath(workspace.handle, agent.actor.id)}
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
        <FormTabs workshop={workshop} workspaceId={workspace.id} />
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
          openView('write')
          props.onSaved()
        }}
      />
      <CompareDialog
        chatId={chatId}
        agent={agent}
        workshop={workshop}
        text={props.comparing}
        onClose={() => props.onComparing(null)}
        onStarted={handleComparisonStarted}
      />
    </aside>
  )
}

/** Holds the view and the tab. The view `rebase` falls back to `write` when the draft is no longer stale. */
function useView(isStale: boolean) {
  const [chosenView, setView] = useState<WorkshopView>('write')
  const [tab, setTab] = useState('prompt')
  const openView = (next: WorkshopView) => {
    setView(next)
    setTab('prompt')
  }
  const view: WorkshopView = chosenView === 'rebase' && !isStale ? 'write' : chosenView
  return { view, tab, openView, setTab }
}

/** Locates the segments of the draft in its current text; null when it has no provenance. */
function useSources({ draft, content }: Workshop): Sources | null {
  const provenance = draft?.provenance ?? null
  return useMemo(() => (provenance ? findSources(provenance, content) : null), [provenance, content])
}

interface WorkshopHeaderProps extends WorkshopPanelProps {
  onCompare(): void
}

function WorkshopHeader({ chatId, workspace, agent, agents, onAgent, onClose, onGo, onCompare }: WorkshopHeaderProps) {
  const { t } = useTexts()
  const { actor } = agent
  return (
    <header className={layout.bar}>
      <IconButton className="only-phone" label={t('backToChat')} onClick={onClose}>
        <ArrowLeft className="i" />
      </IconButton>
      <Avatar id={actor.id} name={actor.name} avatar={actor.avatar} square size="m" />
      {agents.length > 1 ? (
        <Menu
          label={t('agents')}
          trigger={
            <button type="button" className={cx(workshopStyles.agentpick, 'row')}>
              <h2 className="cut">{actor.name}</h2>
              <ChevronDown className="i s faint" aria-hidden />
            </button>
          }
        >
          {agents.map(other => (
            <MenuItem key={other.id} onSelect={() => onAgent(other.id)}>
              <Avatar id={other.id} name={other.name} avatar={other.avatar} square />
              {other.name}
            </MenuItem>
          ))}
        </Menu>
      ) : (
        <h2 className="cut">{actor.name}</h2>
      )}
      <div className="end">
        <IconButton
          label={t('versions')}
          onClick={() => onGo(buildHistoryPath(workspace.handle, agent.actor.id, chatId))}
        >
          <History className="i" />
        </IconButton>
        <IconButton label={t('compare.dots')} onClick={onCompare} aria-haspopup="dialog">
          <Columns2 className="i" />
        </IconButton>
        <IconButton className="only-wide" label={t('closeWorkshop')} onClick={onClose}>
          <X className="i" />
        </IconButton>
      </div>
    </header>
  )
}

interface ViewSwitchProps {
  agent: AgentRow
  workshop: Workshop
  view: WorkshopView
  isStale: boolean
  onView(view: WorkshopView): void
}

function ViewSwitch({ agent, workshop, view, isStale, onView }: ViewSwitchProps) {
  const { t } = useTexts()
  const { production, content, draft, applied } = workshop
  // Deferred, so that counting does not delay typing.
  const prompt = useDeferredValue(content.prompt)
  const counts = useMemo(() => countUnifiedChanges(production.prompt, prompt), [production.prompt, prompt])
  const isChanged = !isSameContent(production, content)
  const options: { value: WorkshopView; label: ReactNode }[] = [
    { value: 'write', label: workshop.isMine ? t('write') : t('read') },
  ]
  if (isChanged || view === 'production')
    options.push({
      value: 'production',
      label: (
        <>
          {t('diffTo')} <LayerIcon layer="production" />v{agent.spec.number}
        </>
      ),
    })
  if (applied)
    options.push({
      value: 'applied',
      label: (
        <>
          {t('diffTo')} <LayerIcon layer="applied" />r{draft?.apply_count}
        </>
      ),
    })
  if (isStale) options.push({ value: 'rebase', label: t('rebaseView', { version: `v${agent.spec.number}` }) })
  return (
    <div className={workshopStyles.mode}>
      <Segments label={t('view')} value={view} options={options} onChange={onView} />
      <span className="num end">
        {isChanged ? `+${counts.added} −${counts.removed} · ` : null}
        {t('characters', { count: content.prompt.length, n: formatNumber(content.prompt.length) })}
      </span>
    </div>
  )
}

interface PromptViewProps {
  workshop: Workshop
  view: WorkshopView
  writerName: string
  sources: Sources | null
  /** No one is editing and this person may: the first key acquires the lock. */
  canStartEditing: boolean
  onStartEditing(prompt: string, at: number): void
  onApply(): void
  onSave(): void
  ref: Ref<PromptHandle>
}

function PromptView(props: PromptViewProps) {
  const { workshop, view, writerName, sources, canStartEditing, onStartEditing, onApply, onSave, ref } = props
  const { content, production, draft, applied, isMine, caret, edit } = workshop
  const { t } = useTexts()
  const provenance = draft?.provenance ?? null
  const marks = useMemo(() => buildMarks(sources, provenance, t), [sources, provenance, t])
  if (view === 'production')
    return <DiffView before={production} after={content} layer={applied && !isMine ? 'applied' : 'writing'} />
  if (view === 'applied' && applied) return <DiffView before={applied} after={content} layer="writing" />
  return (
    <PromptEditor
      ref={ref}
      text={content.prompt}
      isReadOnly={!(isMine || canStartEditing)}
      isBeingEdited={isMine}
      lowerLayers={{ production: production.prompt, applied: applied?.prompt ?? null }}
      caret={caret === null || !writerName ? null : { at: caret, name: writerName }}
      sources={marks}
      onEdit={(prompt, at) => (isMine ? edit({ ...content, prompt }, at) : onStartEditing(prompt, at))}
      onApply={onApply}
      onSave={onSave}
    />
  )
}

/** Builds the marks of the lines that have contributors. */
function buildMarks(
  sources: Sources | null,
  provenance: Provenance | null,
  t: ReturnType<typeof useTexts>['t'],
): SourceMark[] {
  if (!sources || !provenance) return []
  return sources.located
    .filter(({ segment, lines }) => segment.contributors?.length && lines.length > 0)
    .map(({ segment, lines }) => ({
      lines,
      names: formatContributors(provenance, segment.contributors ?? [], t),
      layer: getOriginLayer(provenance),
    }))
}

function FormTabs({ workshop, workspaceId }: { workshop: Workshop; workspaceId: string }) {
  const { t } = useTexts()
  const model = useModel(workspaceId).data
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
        <ToolsForm {...form} />
      </Tabs.Content>
      <Tabs.Content value="model" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <ModelForm {...form} models={models} defaultModel={defaultModel} />
      </Tabs.Content>
      <Tabs.Content value="limits" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <LimitsForm {...form} />
      </Tabs.Content>
    </>
  )
}
