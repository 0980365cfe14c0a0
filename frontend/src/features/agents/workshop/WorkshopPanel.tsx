import { ArrowLeft, ChevronDown, Columns2, History, X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { type ReactNode, type Ref, useEffect, useMemo, useRef, useState } from 'react'
import {
  type ActorRow,
  type AgentRow,
  type Provenance,
  type SpecContent,
  useModel,
  useOffers,
  type WorkspaceRow,
} from '@/api'
import { useTexts } from '@/lib/language'
import { pendingPath, suggestionPath } from '@/lib/paths'
import { count } from '@/lib/time'
import { IconButton } from '@/ui/Button'
import { Face } from '@/ui/Face'
import { Mark } from '@/ui/Mark'
import { Menu, MenuItem } from '@/ui/Menu'
import { useIsPhone } from '@/ui/useIsPhone'
import { enabledTools } from '../content'
import { historyPath } from '../history/pair'
import { ActionsBar } from './ActionsBar'
import { useDraftActions } from './actions'
import { CompareDialog } from './CompareDialog'
import { DiffView } from './DiffView'
import { canSave, LimitsForm, ModelForm, ToolsForm } from './Forms'
import { lineCounts } from './layers'
import { Notices } from './Notices'
import { PromptEditor, type PromptHandle } from './PromptEditor'
import { RebaseView } from './RebaseView'
import { SaveDialog } from './SaveDialog'
import { namesOf } from './SourcesPanel'
import { Strip, type View } from './Strip'
import { useWorkshop, type Workshop } from './session'
import type { Mark as SourceMark } from './sourceMarks'
import { layerOf, type Sources, sourcesIn } from './sources'

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
  const nameOf = (id: string) => who(id)?.name ?? t('somebody')
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
  const apply = () => void (workshop.isMine && actions.apply())
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
  useSaveKey(save)

  return (
    <aside className="shop" aria-label={t('workshop')} data-kept>
      <Head {...props} onClose={close} onCompare={() => props.onComparing('')} />
      <Strip
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
      <Tabs.Root value={tab} onValueChange={setTab} className="shoptabs" activationMode="manual">
        <Tabs.List className="tabs" aria-label={t('spec')}>
          <Tabs.Trigger value="prompt">{t('prompt')}</Tabs.Trigger>
          <Tabs.Trigger value="tools">
            {t('tools')} <span className="faint num">{enabledTools(workshop.content).length}</span>
          </Tabs.Trigger>
          <Tabs.Trigger value="model">{t('model')}</Tabs.Trigger>
          <Tabs.Trigger value="limits">{t('limits')}</Tabs.Trigger>
        </Tabs.List>
        <Notices
          agent={agent}
          workshop={workshop}
          actions={actions}
          writer={writer}
          sources={sources}
          isStale={isStale}
          onRebase={view === 'rebase' && tab === 'prompt' ? null : () => openView('rebase')}
          onLine={goToLine}
          onGoToChat={props.onGoToChat}
        />
        <Tabs.Content value="prompt" className="shopbody" tabIndex={-1}>
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
              onApply={apply}
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
        onSave={save}
      />
      <SaveDialog
        agent={agent}
        workshop={workshop}
        actions={actions}
        open={isSaving}
        onOpenChange={setSaving}
        onStale={() => openView('rebase')}
        onSaved={() => openView('write')}
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
  return useMemo(() => (provenance ? sourcesIn(provenance, content) : null), [provenance, content])
}

/** Ctrl/⌘ S anywhere while the workshop is open: the browser's own "save page" would help nobody. */
function useSaveKey(save: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      event.preventDefault()
      save()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  })
}

interface HeadProps extends WorkshopPanelProps {
  onCompare(): void
}

function Head({ chatId, workspace, agent, agents, onAgent, onClose, onGo, onCompare }: HeadProps) {
  const { t } = useTexts()
  const { actor } = agent
  return (
    <header className="bar">
      <IconButton className="only-phone" label={t('backToChat')} onClick={onClose}>
        <ArrowLeft className="i" />
      </IconButton>
      <Face id={actor.id} name={actor.name} square size="m" />
      {agents.length > 1 ? (
        <Menu
          label={t('agents')}
          trigger={
            <button type="button" className="row agentpick">
              <h2 className="cut">{actor.name}</h2>
              <ChevronDown className="i s faint" aria-hidden />
            </button>
          }
        >
          {agents.map(other => (
            <MenuItem key={other.id} onSelect={() => onAgent(other.id)}>
              <Face id={other.id} name={other.name} square />
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
  const counts = useMemo(() => lineCounts(production.prompt, content.prompt), [production.prompt, content.prompt])
  const mode = (value: View, label: ReactNode) => (
    <button type="button" aria-pressed={view === value} onClick={() => onView(value)}>
      {label}
    </button>
  )
  return (
    <div className="mode">
      <fieldset className="seg" aria-label={t('view')}>
        {mode('write', workshop.isMine ? t('write') : t('read'))}
        {mode(
          'production',
          <>
            {t('diffTo')} <Mark layer="production" />v{agent.spec.number}
          </>,
        )}
        {applied
          ? mode(
              'applied',
              <>
                {t('diffTo')} <Mark layer="applied" />r{draft?.apply_count}
              </>,
            )
          : null}
        {isStale ? mode('rebase', t('rebaseView', { version: `v${agent.spec.number}` })) : null}
      </fieldset>
      <span className="num end">
        +{counts.added} −{counts.removed} ·{' '}
        {t('characters', { count: content.prompt.length, n: count(content.prompt.length) })}
      </span>
    </div>
  )
}

interface PromptViewProps {
  workshop: Workshop
  view: View
  writerName: string
  sources: Sources | null
  onApply(): void
  onSave(): void
  ref: Ref<PromptHandle>
}

function PromptView({ workshop, view, writerName, sources, onApply, onSave, ref }: PromptViewProps) {
  const { content, production, draft, applied, isMine, caret, edit } = workshop
  const provenance = draft?.provenance ?? null
  const marks = useMemo(() => marksOf(sources, provenance), [sources, provenance])
  if (view === 'production')
    return <DiffView before={production} after={content} layer={applied && !isMine ? 'applied' : 'writing'} />
  if (view === 'applied' && applied) return <DiffView before={applied} after={content} layer="writing" />
  return (
    <PromptEditor
      ref={ref}
      text={content.prompt}
      isReadOnly={!isMine}
      below={{ production: production.prompt, applied: applied?.prompt ?? null }}
      caret={caret === null || !writerName ? null : { at: caret, name: writerName }}
      sources={marks}
      onEdit={(prompt, at) => edit({ ...content, prompt }, at)}
      onApply={onApply}
      onSave={onSave}
    />
  )
}

/** The lines that are somebody's; those of production stay plain. */
function marksOf(sources: Sources | null, provenance: Provenance | null): SourceMark[] {
  if (!sources || !provenance) return []
  return sources.standing
    .filter(({ piece, lines }) => piece.voices?.length && lines.length > 0)
    .map(({ piece, lines }) => ({
      lines,
      names: namesOf(provenance, piece.voices ?? []),
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
      <Tabs.Content value="tools" className="shopbody form">
        <ToolsForm {...form} />
      </Tabs.Content>
      <Tabs.Content value="model" className="shopbody form">
        <ModelForm {...form} models={models} standard={standard} />
      </Tabs.Content>
      <Tabs.Content value="limits" className="shopbody form">
        <LimitsForm {...form} />
      </Tabs.Content>
    </>
  )
}
