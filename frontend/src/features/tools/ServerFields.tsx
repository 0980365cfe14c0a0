import type { AuthScheme } from '@/api'
import { type PlainTextKey, useTexts } from '@/lib/language'
import { SelectField, TextField } from '@/ui/Field'

export interface ServerInput<Scheme extends AuthScheme = AuthScheme> {
  name: string
  base_url: string
  auth: Scheme
  auth_name: string
  credential: string
}

/** What differs between kinds of servers. */
export interface ServerTexts<Scheme extends AuthScheme> {
  schemes: readonly Scheme[]
  nameHint?: PlainTextKey
  url: PlainTextKey
  urlHint?: PlainTextKey
}

interface ServerFieldsProps<Scheme extends AuthScheme> extends ServerTexts<Scheme> {
  input: ServerInput<Scheme>
  onChange(changes: Partial<ServerInput<Scheme>>): void
}

/** The name and the URL of a server, and how requests sign in there. */
export function ServerFields<Scheme extends AuthScheme>({
  input,
  onChange,
  schemes,
  nameHint,
  url,
  urlHint,
}: ServerFieldsProps<Scheme>) {
  const { t } = useTexts()
  const auth: AuthScheme = input.auth
  const getLabel = (scheme: AuthScheme) => t(`tools.auth.${scheme}`)
  return (
    <>
      <TextField
        label={t('mcp.name')}
        hint={nameHint && t(nameHint)}
        value={input.name}
        required
        maxLength={80}
        autoComplete="off"
        onChange={name => onChange({ name })}
      />
      <TextField
        label={t(url)}
        hint={urlHint && t(urlHint)}
        type="url"
        placeholder="https://"
        value={input.base_url}
        required
        maxLength={400}
        autoComplete="off"
        className="mono"
        onChange={base_url => onChange({ base_url })}
      />
      <SelectField<Scheme>
        label={t('mcp.auth')}
        hint={auth === 'oauth' ? t('mcp.auth.oauth.hint') : null}
        value={input.auth}
        options={schemes.map(value => ({ value, label: getLabel(value) }))}
        onChange={next => onChange({ auth: next, auth_name: '', credential: '' })}
      />
      {auth === 'header' || auth === 'basic' || auth === 'query' ? (
        <TextField
          label={t(`tools.authName.${auth}`)}
          placeholder={auth === 'header' ? 'X-Api-Key' : undefined}
          value={input.auth_name}
          required
          maxLength={80}
          autoComplete="off"
          className="mono"
          onChange={auth_name => onChange({ auth_name })}
        />
      ) : null}
      <CredentialField auth={auth} value={input.credential} onChange={credential => onChange({ credential })} />
    </>
  )
}

interface CredentialFieldProps {
  auth: AuthScheme
  value: string
  onChange(value: string): void
}

/** The token, key or password of a server; nothing where requests need none. */
export function CredentialField({ auth, value, onChange }: CredentialFieldProps) {
  const { t } = useTexts()
  if (auth === 'none' || auth === 'oauth') return null
  return (
    <TextField
      label={t(auth === 'basic' ? 'tools.password' : auth === 'bearer' ? 'mcp.token' : 'mcp.key')}
      hint={t('mcp.stored')}
      type="password"
      value={value}
      required
      maxLength={4000}
      autoComplete="off"
      onChange={onChange}
    />
  )
}
