import { useLLMProfile, useModelPolicy, useSetModelPolicy, type WorkspaceRow } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { getReasonText } from '@/lib/payer'
import blocks from '@/ui/blocks.module.css'
import { Loading } from '@/ui/Loading'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'

interface ModelPolicyProps {
  workspace: WorkspaceRow
}

/** Who pays for the models of a workspace, and whether members may use their own. */
export function ModelPolicy({ workspace }: ModelPolicyProps) {
  const { t } = useTexts()
  const query = useModelPolicy(workspace.id)
  const save = useSetModelPolicy(workspace.id)
  const ownModel = useLLMProfile()
  const policy = query.data
  const operatorReason = policy?.requires_system_model
    ? 'system_required'
    : policy?.operator_allows_llm_profiles
      ? null
      : 'llm_profiles_off'
  const setAllowed = (isAllowed: boolean) =>
    save.mutate(isAllowed, { onError: error => showToast(getErrorText(error)) })
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('whoPays')}</h2>
      <div className={cx(blocks.b, 'col gap')}>
        {policy ? (
          <>
            <p>
              {policy.paid_by ? t(`paysForYou.${policy.paid_by}`, { model: policy.model ?? '' }) : t('noModelOffered')}
              {ownModel.data?.model && policy.paid_by !== 'person' && policy.payer_reason ? (
                <span className="hint">{t('ownModelElsewhere', { why: getReasonText(policy.payer_reason) })}</span>
              ) : null}
            </p>
            <div className="row spread">
              <span className="col">
                {t('allowOwnModels')}
                <span className="hint">
                  {operatorReason
                    ? t('ownModelNotUsed', { why: getReasonText(operatorReason) })
                    : t('allowOwnModelsHint')}
                </span>
              </span>
              <Switch
                label={t('allowOwnModels')}
                on={policy.allows_llm_profiles}
                disabled={!workspace.verbs.includes('set_model') || save.isPending}
                onChange={setAllowed}
              />
            </div>
          </>
        ) : (
          <Loading query={query} lines={2} />
        )}
      </div>
    </section>
  )
}
