import { type FormEvent, useState } from 'react'
import { ApiError, type Me, useChangeMe } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { chooseTheme, type Theme, themes, useTheme } from '@/lib/theme'
import { AvatarPicker } from '@/ui/AvatarPicker'
import avatarPickerStyles from '@/ui/AvatarPicker.module.css'
import { Button } from '@/ui/Button'
import dialogStyles from '@/ui/Dialog.module.css'
import { SelectField, TextField } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { EmailAddress } from './EmailAddress'
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
  const [handle, setHandle] = useState(me.actor.handle)
  const isChanged = name.trim() !== me.actor.name || handle.trim() !== me.actor.handle
  const isHandleError = change.error instanceof ApiError && change.variables?.handle !== undefined
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      ...(name.trim() !== me.actor.name ? { name: name.trim() } : {}),
      ...(handle.trim() !== me.actor.handle ? { handle: handle.trim() } : {}),
    })
  }
  return (
    <div className={cx(dialogStyles.wide, 'col gap')}>
      <form className="col gap" onSubmit={save}>
        <div className={cx(avatarPickerStyles.withName, 'row')}>
          <AvatarPicker
            id={me.actor.id}
            name={me.actor.name}
            avatar={me.actor.avatar ?? null}
            square={false}
            canClear
            onChange={avatar => change.mutate({ avatar: avatar ?? { kind: 'automatic' } })}
          />
          <TextField
            label={t('yourName')}
            value={name}
            required
            maxLength={80}
            onChange={setName}
            error={change.error && !isHandleError ? getErrorText(change.error) : null}
          />
        </div>
        <TextField
          label={t('handle')}
          value={handle}
          required
          maxLength={40}
          autoComplete="off"
          hint={t('handleHint', { handle: handle.trim() })}
          onChange={setHandle}
          error={isHandleError ? getErrorText(change.error) : null}
        />
        <div className="row">
          <Button
            type="submit"
            blocked={!name.trim() || !handle.trim() || !isChanged}
            busy={change.isPending ? t('saving') : null}
          >
            {t('saveChanges')}
          </Button>
        </div>
      </form>
      <EmailAddress me={me} />
      <div className={fieldStyles.field}>
        <span className={fieldStyles.label}>{t('language')}</span>
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
