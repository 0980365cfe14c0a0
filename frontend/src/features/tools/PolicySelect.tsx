import { type ToolPolicy, useSetToolPolicy } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'
import styles from './Tools.module.css'

const policies: readonly ToolPolicy[] = ['auto', 'ask', 'off']

interface PolicySelectProps {
  tool: { name: string; policy: ToolPolicy }
  /** The name of the tool as it is shown, if it is another one. */
  label?: string
  workspaceId: string
  mayChange: boolean
}

/** The policy of the workspace for a tool. It applies in every chat, for every agent. */
export function PolicySelect({ tool, label = tool.name, workspaceId, mayChange }: PolicySelectProps) {
  const { t } = useTexts()
  const setPolicy = useSetToolPolicy(workspaceId, tool.name)
  if (!mayChange) return <span className={cx(styles.policy, 'xs muted')}>{t(`policy.${tool.policy}`)}</span>
  // Until the tools are read again, the policy that was chosen last.
  const policy = setPolicy.isPending ? setPolicy.variables : tool.policy
  return (
    <select
      className={cx(fieldStyles.select, styles.policy)}
      aria-label={t('policy.of', { name: label })}
      title={t(`policy.${policy}.hint`)}
      value={policy}
      onChange={event =>
        setPolicy.mutate(event.target.value as ToolPolicy, { onError: error => showToast(getErrorText(error)) })
      }
    >
      {policies.map(policy => (
        <option key={policy} value={policy}>
          {t(`policy.${policy}`)}
        </option>
      ))}
    </select>
  )
}
