import { type FormEvent, useState } from 'react'
import { type Me, useChangeMe } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { chooseTheme, type Theme, themes, useTheme } from '@/lib/theme'
import { Button } from '@/ui/Button'
import { SelectField, TextField } from '@/ui/Field'
import { LanguageSelect } from './LanguageSelect'

interface ProfileProps {
  me: Me
  onSignOut(): void
}

export function Profile({ me, onSignOut }: ProfileProps) {
  const { t } = useTexts()
  const change = useChangeMe()
  const theme = useTheme()
  const [name, setName] = useState(me.actor.name)
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ name: name.trim() })
  }
  return (
    <div className="col gap wide">
      <form className="col gap" onSubmit={save}>
        <TextField
          label={t('yourName')}
          value={name}
          required
          maxLength={80}
          onChange={setName}
          error={change.error ? textOfError(change.error) : null}
        />
        <div className="row">
          <Button
            type="submit"
            blocked={!name.trim() || name.trim() === me.actor.name}
            busy={change.isPending ? t('saving') : null}
          >
            {t('saveChanges')}
          </Button>
        </div>
      </form>
      <TextField label={t('email')} value={me.email} readOnly onChange={() => undefined} />
      <div className="field">
        <span className="label">{t('language')}</span>
        <LanguageSelect onChosen={language => change.mutate({ language })} />
      </div>
      <SelectField<Theme>
        label={t('theme')}
        value={theme}
        options={themes.map(value => ({ value, label: t(`theme.${value}`) }))}
        onChange={chooseTheme}
      />
      <div className="row">
        <Button onClick={onSignOut}>{t('signOut')}</Button>
      </div>
    </div>
  )
}
