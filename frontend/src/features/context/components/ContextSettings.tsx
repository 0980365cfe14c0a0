import { type FormEvent, useState } from 'react'
import { type ContextSettingsRow, useChangeContextSettings, useContextSettings, type WorkspaceRow } from '@/api'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { listKeys } from '@/lib/listKeys'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { SelectField, TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'

const strategies = listKeys<ContextSettingsRow['strategy']>({ summarise: true, retrieve: true, truncate: true })

/** What the agents of a workspace read of chats that are too long for their models. */
export function ContextSettings({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const query = useContextSettings(workspace.id)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('settings.context')}</h2>
      <div className={blocks.b}>
        {query.data ? (
          <RowForm row={query.data} revision={query.data.revision}>
            {(settings, onSaved) => (
              <SettingsForm
                settings={settings}
                workspaceId={workspace.id}
                isReadOnly={!workspace.verbs.includes('set_model')}
                onSaved={onSaved}
              />
            )}
          </RowForm>
        ) : (
          <Loading query={query} lines={4} />
        )}
      </div>
    </section>
  )
}

interface SettingsFormProps {
  settings: ContextSettingsRow
  workspaceId: string
  isReadOnly: boolean
  onSaved(): void
}

function SettingsForm({ settings, workspaceId, isReadOnly, onSaved }: SettingsFormProps) {
  const { t } = useTexts()
  const change = useChangeContextSettings(workspaceId)
  const [strategy, setStrategy] = useState(settings.strategy)
  const [maxTokens, setMaxTokens] = useState(settings.max_tokens?.toString() ?? '')
  const isUnchanged = strategy === settings.strategy && maxTokens === (settings.max_tokens?.toString() ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      {
        strategy,
        max_tokens: maxTokens ? Number(maxTokens) : null,
        revision: settings.revision,
      },
      {
        onSuccess: () => {
          showToast(t('context.saved'))
          onSaved()
        },
      },
    )
  }
  return (
    <form className="col gap" onSubmit={save}>
      <p className="muted sm">{t('context.about')}</p>
      <SelectField<ContextSettingsRow['strategy']>
        label={t('field.context_strategy')}
        hint={t(`context.${strategy}Hint`)}
        value={strategy}
        options={strategies.map(value => ({ value, label: t(`context.${value}`) }))}
        onChange={value => setStrategy(value)}
        disabled={isReadOnly}
      />
      <TextField
        label={t('field.context_max_tokens')}
        hint={t('context.maxTokensHint')}
        type="number"
        inputMode="numeric"
        min={1_000}
        max={2_000_000}
        step={1}
        value={maxTokens}
        disabled={isReadOnly}
        error={change.error ? getErrorText(change.error) : null}
        onChange={setMaxTokens}
      />
      <div className="row">
        <Button type="submit" blocked={isReadOnly || isUnchanged} busy={change.isPending ? t('saving') : null}>
          {t('saveChanges')}
        </Button>
      </div>
    </form>
  )
}
