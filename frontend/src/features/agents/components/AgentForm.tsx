import { useQueryClient } from '@tanstack/react-query'
import { ArrowRight, CircleCheck } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { type AgentTemplateRow, createAgent, keys, useAgentTemplates } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { currentLanguage, useTexts } from '@/lib/language'
import { Avatar, type AvatarData, letterAvatar } from '@/ui/Avatar'
import { AvatarPicker } from '@/ui/AvatarPicker'
import avatarPickerStyles from '@/ui/AvatarPicker.module.css'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Field, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { ProposalFields, ProposeButton, useAgentProposal } from './AgentProposal'
import { TeamTemplates } from './TeamTemplates'

interface AgentFormProps {
  workspaceId: string
  /** Called with the chat in which the new agent, or the one that leads a new team, has greeted the reader. */
  onMade(chatId: string | null): void
  /** The label of the submit button. */
  action: string
  large?: boolean
  /** Called with the agent as it would be created, whenever that changes. */
  onPreview?(preview: AgentPreview): void
  aside?: ReactNode
}

/** An agent that is not created yet. */
export interface AgentPreview {
  name: string
  avatar: AvatarData
  prompt: string
  greeting: string
}

/** The empty template, for an agent that is described in a sentence. */
const BLANK: AgentTemplateRow['key'] = 'blank'

/** A template of an agent that only makes sense in a team: it does what no other agent does. */
const GENERAL: AgentTemplateRow['key'] = 'general'

/** The form that creates an agent from a template, from a sentence, or from what a model proposes for the sentence, and a chat in which the agent posts its greeting; or a team. */
export function AgentForm({ workspaceId, onMade, action, large, aside, onPreview }: AgentFormProps) {
  const { t } = useTexts()
  const client = useQueryClient()
  const templates = useAgentTemplates(currentLanguage())
  const visibleTemplates = (templates.data ?? []).filter(({ key }) => key !== BLANK && key !== GENERAL)
  const [key, setKey] = useState<string | null>(null)
  const [sentence, setSentence] = useState('')
  const [typedName, setTypedName] = useState<string | null>(null)
  const [pickedAvatar, setPickedAvatar] = useState<AvatarData | null>(null)
  const { busy, error, run } = useAsyncAction()
  const proposing = useAgentProposal(workspaceId)
  const { proposal } = proposing
  const chosen =
    sentence.trim() || proposal
      ? null
      : (visibleTemplates.find(template => template.key === key) ?? visibleTemplates[0] ?? null)
  const name = typedName ?? proposal?.name ?? chosen?.name ?? ''
  // The avatar of the preview is sent with the request, so that the agent gets the same one.
  const avatar = pickedAvatar ?? chosen?.avatar ?? letterAvatar(name)

  const preview = JSON.stringify({
    name,
    avatar,
    prompt: chosen?.prompt ?? proposal?.prompt ?? sentence,
    greeting: chosen?.greeting ?? '',
  } satisfies AgentPreview)
  useEffect(() => onPreview?.(JSON.parse(preview) as AgentPreview), [preview, onPreview])

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      const proposed = proposal && {
        prompt: proposal.prompt,
        description: proposal.description,
        questions: proposal.questions,
      }
      const source = chosen
        ? { template: chosen.key, description: chosen.description }
        : {
            template: BLANK,
            prompt: sentence.trim(),
            description: sentence.trim().slice(0, 200),
            ...proposed,
          }
      const made = await createAgent(workspaceId, { name: name.trim(), open_chat: true, avatar, ...source })
      await client.invalidateQueries({ queryKey: keys.workspace(workspaceId) })
      onMade(made.chat_id)
    })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      {templates.data ? (
        <Templates
          templates={visibleTemplates}
          chosen={chosen?.key ?? null}
          onChoose={next => {
            setKey(next)
            setSentence('')
            proposing.clear()
            setTypedName(null)
            setPickedAvatar(null)
          }}
        />
      ) : (
        <Loading query={templates} />
      )}
      <TeamTemplates workspaceId={workspaceId} onMade={onMade} />
      <Field label={t('orSentence')} hint={t('orSentenceHint')}>
        {attributes => (
          <textarea
            {...attributes}
            className={fieldStyles.input}
            value={sentence}
            maxLength={4_000}
            placeholder={t('sentencePlaceholder')}
            onChange={event => setSentence(event.target.value)}
          />
        )}
      </Field>
      <ProposeButton sentence={sentence} state={proposing} />
      {proposal ? <ProposalFields proposal={proposal} onChange={proposing.setProposal} /> : null}
      <div className={cx(avatarPickerStyles.withName, 'row')}>
        <AvatarPicker id="" name={name} avatar={avatar} square canClear={false} onChange={setPickedAvatar} />
        <TextField
          label={t('agentName')}
          value={name}
          required
          maxLength={80}
          error={error ? getErrorText(error) : null}
          onChange={setTypedName}
          className="short"
        />
      </div>
      <div className="row">
        <Button
          tone="ink"
          type="submit"
          {...(large ? { size: 'lg' as const } : {})}
          busy={busy ? t('makingAgent') : null}
          blocked={name.trim() ? false : t('nameFirst')}
        >
          {action}
          <ArrowRight className="i" aria-hidden />
        </Button>
        {aside}
      </div>
    </form>
  )
}

interface TemplatesProps {
  templates: readonly AgentTemplateRow[]
  chosen: string | null
  onChoose(key: string): void
}

function Templates({ templates, chosen, onChoose }: TemplatesProps) {
  const { t } = useTexts()
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>{t('fromTemplate')}</legend>
      <div className={blocks.tpls}>
        {templates.map(template => (
          <TemplateCard
            key={template.key}
            template={template}
            isChosen={template.key === chosen}
            onChoose={() => onChoose(template.key)}
          />
        ))}
      </div>
    </fieldset>
  )
}

interface TemplateCardProps {
  template: AgentTemplateRow
  isChosen: boolean
  onChoose(): void
}

function TemplateCard({ template, isChosen, onChoose }: TemplateCardProps) {
  return (
    <label className={cx(blocks.card, blocks.choice)}>
      <input type="radio" name="template" className="sr" checked={isChosen} onChange={onChoose} />
      <span className="row">
        <Avatar id={template.key} name={template.name} avatar={template.avatar} square size="m" />
        <b className="grow">{template.name}</b>
        {isChosen ? <CircleCheck className="i s" aria-hidden /> : null}
      </span>
      <span className="muted">{template.description}</span>
    </label>
  )
}
