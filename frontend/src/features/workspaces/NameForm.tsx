import { ArrowRight } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { createWorkspace, renameWorkspace, type WorkspaceRow } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

interface NameFormProps {
  /** The workspace, if it was created already: then it is renamed. */
  made?: WorkspaceRow | undefined
  onMade(workspace: WorkspaceRow): Promise<void>
}

/** The form that creates or renames a workspace in the setup. */
export function NameForm({ made, onMade }: NameFormProps) {
  const { t } = useTexts()
  const [name, setName] = useState(made?.name ?? '')
  const { busy, error, run } = useAsyncAction()
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void run(async () => {
      if (!made) return onMade(await createWorkspace(name.trim()))
      return onMade(name.trim() === made.name ? made : await renameWorkspace(made, name.trim()))
    })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <TextField
        label={t('workspaceName')}
        hint={t('workspaceNameHint')}
        value={name}
        required
        maxLength={80}
        autoFocus
        placeholder={t('workspacePlaceholder')}
        error={error ? getErrorText(error) : null}
        onChange={setName}
        className="short"
      />
      <div className="row">
        <Button
          tone="ink"
          size="lg"
          type="submit"
          busy={busy ? t('makingWorkspace') : null}
          blocked={name.trim() ? false : t('nameFirst')}
        >
          {t('continue')}
          <ArrowRight className="i" aria-hidden />
        </Button>
      </div>
    </form>
  )
}
