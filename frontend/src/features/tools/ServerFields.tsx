import type { HttpServerInput } from '@/api'
import { useTexts } from '@/lib/language'
import { SelectField, TextField } from '@/ui/Field'

type Scheme = HttpServerInput['auth']
const schemes: readonly Scheme[] = ['none', 'bearer', 'header', 'basic', 'query']

export const emptyServer: HttpServerInput = {
  kind: 'http',
  name: '',
  base_url: '',
  auth: 'none',
  auth_name: '',
  credential: '',
  headers: {},
}

interface ServerFieldsProps {
  input: HttpServerInput
  onChange(changes: Partial<HttpServerInput>): void
}

/** The name and the address of a server, and how requests sign in there. */
export function ServerFields({ input, onChange }: ServerFieldsProps) {
  const { t } = useTexts()
  const { auth } = input
  return (
    <>
      <TextField
        label={t('mcp.name')}
        value={input.name}
        required
        maxLength={80}
        autoComplete="off"
        onChange={name => onChange({ name })}
      />
      <TextField
        label={t('tools.baseUrl')}
        hint={t('tools.baseUrl.hint')}
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
        value={auth}
        options={schemes.map(value => ({ value, label: t(`tools.auth.${value}`) }))}
        onChange={next => onChange({ auth: next, auth_name: '', credential: '' })}
      />
      {auth === 'header' || auth === 'basic' || auth === 'query' ? (
        <TextField
          label={t(`tools.authName.${auth}`)}
          value={input.auth_name}
          required
          maxLength={80}
          autoComplete="off"
          className="mono"
          onChange={auth_name => onChange({ auth_name })}
        />
      ) : null}
      {auth === 'none' ? null : (
        <TextField
          label={t(auth === 'basic' ? 'tools.password' : 'mcp.key')}
          hint={t('mcp.stored')}
          type="password"
          value={input.credential}
          maxLength={4000}
          autoComplete="off"
          onChange={credential => onChange({ credential })}
        />
      )}
    </>
  )
}
