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
  useOffers,
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
import { enabledTools, isSame } from '../content'
import { historyPath } from '../history/pair'
import { ActionsBar } from './ActionsBar'
import { useDraftActions } from './actions'
import { CompareDialog } from './CompareDialog'
import { DiffView } from './DiffView'
import { DraftNotices } from './DraftNotices'
import { useWorkshop, type Workshop } from './draftSession'
import { canSave, canWrite, LimitsForm, ModelForm, ToolsForm } from './Forms'
import { LayerBar, type View } from './LayerBar'
import { lineCounts } from './layerGutter'
import { PromptEditor, type PromptHandle } from './PromptEditor'
import { findSources, layerOf, type Sources } from './provenance'
import type { SourceMark } from './provenanceGutter'
import { RebaseView } from './RebaseView'
import { SaveDialog } from './SaveDialog'
import { namesOf } from './SourcesPanel'
import { useStartEditing } from './startEditing'
import workshopStyles from './Workshop.module.css'

interface WorkshopPanelProps {
  chatId: string
  workspace: WorkspaceRow
  agent: AgentRow
  /** The other agents of this chat that can be opened here. */
  agents: readonly ActorRow[]
  me: ActorRow
  who(id: string): ActorRow | null
  onAgent(id: string): void
  onClose(): void
  onGoToChat(id: string): void
  /** Goes to a path of this app. */
  onGo(path: string): void
  /** The text for both to answer, while that is asked for. */
  comparing: string | null
  onComparing(text: string | null): void
  /** The caret goes into the prompt as the workshop opens, or once it is open. */
  wantsCaret: boolean
  onCaret(): void
  /** The draft has been applied: somebody will want to try it. */
  onApplied(): void
  onSaved(): void
  ref?: Ref<WorkshopHandle>
}

export interface WorkshopHandle {
  /** Apply what is written, when it is this person's and not applied yet. False when that failed. */
  apply(): Promise<boolean>
}

/** The agent's workshop beside the chat: what answers, what is written, and what becomes of it. */
export default function WorkshopPanel(props: WorkshopPanelProps) {
  const { t } = useTexts()
  const { chatId, workspace, agent, me, who, onGo } = props
  const workshop = useWorkshop(chatId, agent, me)
  const onSuggestion = (id: string) => onGo(suggestionPath(workspace.handle, id))
  const actions = useDraftActions({ chatId, agent, workspaceId: workspace.id, onSuggestion }, workshop)
  const { draft } = workshop
  const isStale = draft !== null && draft.base_version < (agent.spec.number ?? 0)
  const { view, tab, openView, setTab } = useView(isStale)
  const [isSaving, setSaving] = useState(false)
  const prompt = useRef<PromptHandle>(null)
  const sources = useSources(workshop)
  const nameOf = (id: string) => who(id)?.name ?? t('unknownPerson')
  const writer = workshop.writer ? who(workshop.writer.id) : null
  const isPhone = useIsPhone()

  const close = () => {
    if (workshop.isMine) void actions.release()
    props.onClose()
  }
  /** The answers stand in the chat, which this panel hides on a phone. */
  const asked = () => {
    props.onComparing(null)
    if (isPhone) props.onClose()
  }
  const startEditing = useStartEditing(workshop, actions, prompt)
  const apply = async () => {
    if (workshop.isMine && (await actions.apply()) && !isPhone) props.onApplied()
  }
  useImperativeHandle(props.ref, () => ({
    apply: async () => {
      const isApplied = workshop.applied !== null && isSame(workshop.applied, workshop.content)
      return !workshop.isMine || isApplied || (await actions.apply()) !== null
    },
  }))
  const { wantsCaret, onCaret } = props
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is wanted
  useEffect(() => {
    if (!wantsCaret) return
    openView('write')
    // After the editor is drawn.
    setTimeout(() => prompt.current?.focus(), 0)
    onCaret()
  }, [wantsCaret])
  const save = () => {
    if (!workshop.isMine || !canSave(agent)) return
    // Nothing newer is overwritten unseen.
    if (isStale) openView('rebase')
    else setSaving(true)
  }
  const goToLine = (line: number) => {
    openView('write')
    // After the editor is drawn.
    setTimeout(() => prompt.current?.goTo(line), 0)
  }
  // Wherever the focus is: the browser's own "save page" would help nobody.
  useActions(() => ({ 'version.save': save }))

  return (
    <aside className={layout.panel} data-pane="workshop" aria-label={t('workshop')} data-kept>
      <Head {...props} onClose={close} onCompare={() => props.onComparing('')} />
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
            {t('tools')} <span className="faint num">{enabledTools(workshop.content).length}</span>
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
          who={who}
          sources={sources}
          isStale={isStale}
          onRebase={view === 'rebase' && tab === 'prompt' ? null : () => openView('rebase')}
          onLine={goToLine}
          onGoToChat={props.onGoToChat}
        />
        <Tabs.Content value="prompt" className={workshopStyles.tabBody} tabIndex={-1}>
          <Modes agent={agent} workshop={workshop} view={view} isStale={isStale} onView={openView} />
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
              canBegin={canWrite(agent) && !workshop.writer && !isPhone}
              onBegin={startEditing.type}
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
        onAsked={asked}
      />
    </aside>
  )
}

/** Which text is shown, on which tab. Once nothing newer stands in the way any more, one is back at writing. */
function useView(isStale: boolean) {
  const [chosen, setView] = useState<View>('write')
  const [tab, setTab] = useState('prompt')
  const openView = (next: View) => {
    setView(next)
    setTab('prompt')
  }
  const view: View = chosen === 'rebase' && !isStale ? 'write' : chosen
  return { view, tab, openView, setTab }
}

/** Whose words the draft is made of, as it stands now; null when somebody typed it. */
function useSources({ draft, content }: Workshop): Sources | null {
  const provenance = draft?.provenance ?? null
  return useMemo(() => (provenance ? findSources(provenance, content) : null), [provenance, content])
}

interface HeadProps extends WorkshopPanelProps {
  onCompare(): void
}

function Head({ chatId, workspace, agent, agents, onAgent, onClose, onGo, onCompare }: HeadProps) {
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
        <IconButton label={t('versions')} onClick={() => onGo(historyPath(workspace.handle, agent.actor.id, chatId))}>
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

interface ModesProps {
  agent: AgentRow
  workshop: Workshop
  view: View
  isStale: boolean
  onView(view: View): void
}

function Modes({ agent, workshop, view, isStale, onView }: ModesProps) {
  const { t } = useTexts()
  const { production, content, draft, applied } = workshop
  // Nobody waits for these while typing.
  const prompt = useDeferredValue(content.prompt)
  const counts = useMemo(() => lineCounts(production.prompt, prompt), [production.prompt, prompt])
  const isChanged = !isSame(production, content)
  const options: { value: View; label: ReactNode }[] = [
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
  view: View
  writerName: string
  sources: Sources | null
  /** Nobody writes, and this person may: the first key takes the draft. */
  canBegin: boolean
  onBegin(prompt: string, at: number): void
  onApply(): void
  onSave(): void
  ref: Ref<PromptHandle>
}

function PromptView(props: PromptViewProps) {
  const { workshop, view, writerName, sources, canBegin, onBegin, onApply, onSave, ref } = props
  const { content, production, draft, applied, isMine, caret, edit } = workshop
  const { t } = useTexts()
  const provenance = draft?.provenance ?? null
  const marks = useMemo(() => marksOf(sources, provenance, t), [sources, provenance, t])
  if (view === 'production')
    return <DiffView before={production} after={content} layer={applied && !isMine ? 'applied' : 'writing'} />
  if (view === 'applied' && applied) return <DiffView before={applied} after={content} layer="writing" />
  return (
    <PromptEditor
      ref={ref}
      text={content.prompt}
      isReadOnly={!(isMine || canBegin)}
      isWritten={isMine}
      below={{ production: production.prompt, applied: applied?.prompt ?? null }}
      caret={caret === null || !writerName ? null : { at: caret, name: writerName }}
      sources={marks}
      onEdit={(prompt, at) => (isMine ? edit({ ...content, prompt }, at) : onBegin(prompt, at))}
      onApply={onApply}
      onSave={onSave}
    />
  )
}

/** The lines that are somebody's; those of production stay plain. */
function marksOf(
  sources: Sources | null,
  provenance: Provenance | null,
  t: ReturnType<typeof useTexts>['t'],
): SourceMark[] {
  if (!sources || !provenance) return []
  return sources.located
    .filter(({ segment, lines }) => segment.contributors?.length && lines.length > 0)
    .map(({ segment, lines }) => ({
      lines,
      names: namesOf(provenance, segment.contributors ?? [], t),
      layer: layerOf(provenance),
    }))
}

function FormTabs({ workshop, workspaceId }: { workshop: Workshop; workspaceId: string }) {
  const { t } = useTexts()
  const model = useModel(workspaceId).data
  const offers = useOffers().data ?? []
  const models = offers.filter(offer => offer.provider === model?.provider).flatMap(offer => offer.models)
  const form = {
    content: workshop.content,
    isReadOnly: !workshop.isMine,
    onEdit: (content: SpecContent) => workshop.edit(content),
  }
  const standard = model?.provider === 'demo' ? t('demoModel') : (model?.default_model ?? '')
  return (
    <>
      <Tabs.Content value="tools" className={cx(workshopStyles.tabBody, workshopStyles.form, workshopStyles.flush)}>
        <ToolsForm {...form} />
      </Tabs.Content>
      <Tabs.Content value="model" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <ModelForm {...form} models={models} standard={standard} />
      </Tabs.Content>
      <Tabs.Content value="limits" className={cx(workshopStyles.tabBody, workshopStyles.form)}>
        <LimitsForm {...form} />
      </Tabs.Content>
    </>
  )
}
