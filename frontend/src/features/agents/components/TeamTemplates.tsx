import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { createTeam, keys, type TeamTemplateRow, useTeamTemplates } from '@/api'
import { useAsyncAction } from '@/lib/asyncAction'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { currentLanguage, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import styles from './TeamTemplates.module.css'

interface TeamTemplatesProps {
  workspaceId: string
  onMade(chatId: string): void
}

/** The templates of whole teams, each with a button that creates its agents and their chat. */
export function TeamTemplates({ workspaceId, onMade }: TeamTemplatesProps) {
  const { t } = useTexts()
  const templates = useTeamTemplates(currentLanguage()).data ?? []
  if (templates.length === 0) return null
  return (
    <fieldset className={fieldStyles.field}>
      <legend className={fieldStyles.label}>{t('fromTeam')}</legend>
      {templates.map(template => (
        <TeamCard key={template.key} template={template} workspaceId={workspaceId} onMade={onMade} />
      ))}
    </fieldset>
  )
}

function TeamCard({ template, workspaceId, onMade }: TeamTemplatesProps & { template: TeamTemplateRow }) {
  const { t } = useTexts()
  const client = useQueryClient()
  const { busy, error, run } = useAsyncAction()
  const handleClick = () =>
    void run(async () => {
      const made = await createTeam(workspaceId, template.key)
      await client.invalidateQueries({ queryKey: keys.workspace(workspaceId) })
      onMade(made.chat_id)
    })
  return (
    <div className={cx(blocks.card, styles.team)}>
      <div className={styles.about}>
        <b>{template.name}</b>
        <span className="muted">{template.description}</span>
        <ul className={styles.agents}>
          {[template.lead, ...template.members].map(agent => (
            <li key={agent.name} title={agent.role}>
              <Avatar id={agent.name} name={agent.name} avatar={agent.avatar} square size="tiny" />
              {agent.name}
            </li>
          ))}
        </ul>
        {error ? (
          <span className={fieldStyles.err} role="alert">
            <CircleAlert className="i s" aria-hidden />
            {getErrorText(error)}
          </span>
        ) : null}
      </div>
      <Button onClick={handleClick} busy={busy ? t('makingTeam') : null}>
        {t('createTeam')}
      </Button>
    </div>
  )
}
