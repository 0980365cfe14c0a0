import { type FormEvent, useState } from 'react'
import {
  changeBoardSettings,
  type BoardSettings as Settings,
  useBoardSettings,
  useBudgetAction,
  type WorkspaceRow,
} from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { TextField } from '@/ui/Field'
import { Loading } from '@/ui/Loading'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'
import { parseDollars } from './budgets'

const MICRO = 1_000_000

/** Above which estimate a board without a supervisor waits for a person. Editors change it. */
export function BoardSettings({ workspace }: { workspace: WorkspaceRow }) {
  const { t } = useTexts()
  const query = useBoardSettings(workspace.id)
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('budget.boards')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        {query.data ? (
          <RowForm row={query.data} revision={query.data.revision}>
            {(settings, onSaved) => <SettingsForm workspace={workspace} settings={settings} onSaved={onSaved} />}
          </RowForm>
        ) : (
          <Loading query={query} lines={2} />
        )}
      </div>
    </section>
  )
}

interface SettingsFormProps {
  workspace: WorkspaceRow
  settings: Settings
  onSaved(): void
}

function SettingsForm({ workspace, settings, onSaved }: SettingsFormProps) {
  const { t } = useTexts()
  const isReadOnly = !workspace.verbs.includes('set_budgets')
  const present = settings.ask_above_micro
  const [text, setText] = useState(present === null ? '' : String(present / MICRO))
  const change = useBudgetAction(workspace.id, (body: Settings) => changeBoardSettings(workspace.id, body))
  const amount = text.trim() === '' ? null : parseDollars(text)
  const isInvalid = amount === null && text.trim() !== ''
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (isInvalid) return
    const body = { ask_above_micro: amount, revision: settings.revision }
    change.mutate(body, { onSuccess: onSaved, onError: error => showToast(getErrorText(error)) })
  }
  return (
    <form className="col gap" onSubmit={save}>
      <TextField
        label={t('budget.askAbove')}
        hint={t('budget.askAboveHint')}
        inputMode="decimal"
        value={text}
        disabled={isReadOnly}
        onChange={setText}
      />
      <div className="row">
        <Button
          type="submit"
          blocked={isReadOnly || isInvalid || amount === present}
          busy={change.isPending ? t('saving') : null}
        >
          {t('saveChanges')}
        </Button>
      </div>
    </form>
  )
}
