import { ArrowRight } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { createWorkspace, type WorkspaceRow } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import { TextField } from '@/ui/Field'

/** A new workspace needs a name only; who makes it is its editor. */
export function NameForm({ onMade }: { onMade(workspace: WorkspaceRow): void }) {
  const { t } = useTexts()
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const make = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      onMade(await createWorkspace(name.trim()))
    } catch (problem) {
      setError(textOfError(problem))
      setBusy(false)
    }
  }
  return (
    <form className="col gap" onSubmit={make}>
      <TextField
        label={t('workspaceName')}
        hint={t('workspaceNameHint')}
        value={name}
        required
        maxLength={80}
        autoFocus
        placeholder={t('workspacePlaceholder')}
        error={error}
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
