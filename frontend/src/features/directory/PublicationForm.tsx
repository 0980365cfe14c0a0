import { useQueryClient } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import { type FormEvent, Suspense } from 'react'
import {
  type AgentRow,
  ApiError,
  createChat,
  keys,
  type PublicationCheckRow,
  type PublicationRow,
  publishAgent,
  updatePublication,
  usePublication,
  useVersions,
  type WorkspaceRow,
} from '@/api'
import { DiffView } from '@/features/agents'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { publicAgentPath } from '@/lib/paths'
import { useSettled } from '@/lib/settled'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { SelectField } from '@/ui/Field'
import layout from '@/ui/layout.module.css'
import { Skeleton } from '@/ui/Skeleton'
import { showToast } from '@/ui/toast'
import { ListingFields } from './ListingFields'
import { useNewChat } from './newChat'
import styles from './Publish.module.css'
import { findProblem, PublishPreview } from './PublishPreview'
import { type PublicationValues, useStoredPublication } from './storedPublication'
import { LastTakedown, WhatGoesAlong } from './WhatGoesAlong'

interface PublicationFormProps {
  storageKey: string
  initial: PublicationValues
  agent: AgentRow
  publication: PublicationRow
  workspace: WorkspaceRow
  /** Opens the workshop of the agent; null while it is in no chat. */
  onEdit: (() => void) | null
  onCancel(): void
  onGo(path: string): void
}

/** The form that publishes an agent: what is published, how it appears, and a preview. */
export function PublicationForm(props: PublicationFormProps) {
  const { storageKey, initial, agent, publication, workspace, onEdit, onCancel, onGo } = props
  const { t } = useTexts()
  const client = useQueryClient()
  const { values, change, forget } = useStoredPublication(storageKey, initial)
  const { busy, error, run } = useAsyncAction()
  const newChat = useNewChat(workspace, onGo)
  const { listing } = publication
  const name = useSettled(values.name.trim())
  const handle = useSettled(values.handle.trim())
  const checked = usePublication(workspace.id, agent.actor.id, { version: values.version, name, handle })
  const { description, examples, message } = toBody(values)
  const listed = useSettled(JSON.stringify({ description, examples, message }))
  const isChecking = checked.isFetching || name !== values.name.trim() || handle !== values.handle.trim()
  const check = checked.data?.check ?? publication.check
  const isNewVersion = listing === null || publication.origin_version !== check.version
  const isUnchanged = !isNewVersion && JSON.stringify(toListed(values)) === JSON.stringify(toListed(initial))
  const problem = isUnchanged
    ? t('publish.nothingChanged')
    : findProblem(values, check, { isChecking, isUpdate: listing !== null })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problem) return
    void run(async () => {
      const { handle, ...listed } = toBody(values)
      try {
        const published = await (listing
          ? updatePublication(agent.actor.id, listed)
          : publishAgent(agent.actor.id, { ...listed, handle }))
        forget()
        showToast(t('publish.done', { name: published.actor.name, version: published.version }))
        onGo(publicAgentPath(workspace.handle, published.actor.handle))
      } finally {
        // Also after an error: another person may have published it, or taken the name, meanwhile.
        await Promise.all([
          client.invalidateQueries({ queryKey: keys.publication(workspace.id, agent.actor.id) }),
          client.invalidateQueries({ queryKey: keys.directory }),
        ])
      }
    })
  }
  const tryExample = (example: string) => {
    const { id, name } = agent.actor
    newChat.begin(async () => (await createChat(workspace.id, { title: name, actor_ids: [id] })).chat, example)
  }
  return (
    <form className={styles.form} onSubmit={submit} data-kept>
      <div className={cx(layout.page, styles.columns)}>
        <div className={styles.fields}>
          {listing === null ? <LastTakedown takedowns={publication.takedowns} /> : null}
          <VersionChoice agent={agent} value={values.version} onChange={version => change({ version })} />
          <WhatGoesAlong agent={agent} check={check} listing={listed} onEdit={onEdit} />
          {listing ? <ChangesSince agent={agent} publication={publication} version={check.version} /> : null}
          <ListingFields
            values={values}
            check={check}
            isChecking={isChecking}
            isUpdate={listing !== null}
            nextVersion={listing && isNewVersion ? listing.version + 1 : null}
            tryHint={t('publish.tryHint', { name: agent.actor.name })}
            onTry={newChat.busy ? null : tryExample}
            onChange={change}
          />
        </div>
        <PublishPreview values={values} check={check} agent={agent} publication={publication} workspace={workspace} />
      </div>
      <Footer
        kind={listing === null ? 'new' : isNewVersion ? 'version' : 'listing'}
        problem={problem}
        busy={busy}
        error={newChat.error ?? (isAboutName(error) ? null : error)}
        onCancel={onCancel}
      />
    </form>
  )
}

interface FooterProps {
  /** Whether a new public agent is published, a new version, or only changes of its listing. */
  kind: 'new' | 'version' | 'listing'
  /** Why it cannot be published as it is entered, or null. */
  problem: string | null
  busy: boolean
  error: unknown
  onCancel(): void
}

const effects = { new: 'publish.effect', version: 'publish.updateEffect', listing: 'publish.listingEffect' } as const

function Footer({ kind, problem, busy, error, onCancel }: FooterProps) {
  const { t } = useTexts()
  return (
    <footer className={styles.footer}>
      <div className="grow">
        <ErrorBanner error={error} />
        <p className="sm">
          {problem ? <b>{problem} </b> : null}
          <span className="muted">{t(effects[kind])}</span>
        </p>
      </div>
      <Button className="only-wide" onClick={onCancel}>
        {t('cancel')}
      </Button>
      <Button tone="ink" type="submit" blocked={problem ?? false} busy={busy ? t('publish.doing') : null}>
        <Upload className="i s" aria-hidden />
        {t(kind === 'version' ? 'publish.update' : 'publish.do')}
      </Button>
    </footer>
  )
}

const toBody = ({ version, languages, examples, ...values }: PublicationValues) => ({
  ...values,
  name: values.name.trim(),
  handle: values.handle.trim(),
  description: values.description.trim(),
  message: values.message.trim(),
  languages: [...languages],
  examples: examples.map(example => example.trim()).filter(Boolean),
  ...(version === null ? {} : { version }),
})

/** Returns what the directory shows, without the note about a new version. */
const toListed = (values: PublicationValues) => toBody({ ...values, version: null, message: '' })

/** Returns whether a name or handle is taken. The field is checked again and shows this, so the footer does not. */
const isAboutName = (error: unknown) => error instanceof ApiError && ['name_taken', 'handle_taken'].includes(error.code)

interface VersionChoiceProps {
  agent: AgentRow
  value: number | null
  onChange(version: number | null): void
}

/** The choice of the version of the agent that is published. */
function VersionChoice({ agent, value, onChange }: VersionChoiceProps) {
  const { t } = useTexts()
  const versions = useVersions(agent.actor.id, agent.spec.id).data ?? [agent.spec]
  const production = agent.spec.number ?? 1
  return (
    <SelectField
      label={t('publish.version')}
      value={String(value ?? production)}
      options={versions.map(spec => {
        const number = spec.number ?? 1
        const note = number === production ? t('publish.production') : spec.message
        return { value: String(number), label: note ? `v${number} · ${note}` : `v${number}` }
      })}
      onChange={number => onChange(Number(number) === production ? null : Number(number))}
    />
  )
}

interface ChangesSinceProps {
  agent: AgentRow
  publication: PublicationRow
  version: PublicationCheckRow['version']
}

/** What has changed since the version that the public agent was made of. */
function ChangesSince({ agent, publication, version }: ChangesSinceProps) {
  const { t } = useTexts()
  const versions = useVersions(agent.actor.id, agent.spec.id)
  const { origin_version } = publication
  const before = versions.data?.find(spec => spec.number === origin_version)
  const after = versions.data?.find(spec => spec.number === version)
  if (origin_version === version)
    return <p className={cx(blocks.banner, styles.note)}>{t('publish.sameVersion', { version: `v${version}` })}</p>
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('publish.changes', { from: `v${origin_version}`, to: `v${version}` })}</h2>
      <div className={styles.diff}>
        {before && after ? (
          <Suspense fallback={<Skeleton lines={4} label={t('loading')} />}>
            <DiffView before={before.content} after={after.content} layer="production" />
          </Suspense>
        ) : (
          <Skeleton lines={4} label={t('loading')} />
        )}
      </div>
    </section>
  )
}
