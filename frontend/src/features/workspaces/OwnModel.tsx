import { Check, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { type LLMProfileRow, useDeleteLLMProfile, useLLMProfile } from '@/api'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { getReasonText } from '@/lib/payer'
import { getRunErrorText } from '@/lib/runErrors'
import { formatRelative } from '@/lib/time'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { Loading } from '@/ui/Loading'
import { RowForm } from '@/ui/RowForm'
import { showToast } from '@/ui/toast'
import { ModelForm } from './ModelForm'

/** The own model of the signed-in person: its settings, its state, and the workspaces in which it answers. */
export function OwnModel() {
  const { t } = useTexts()
  const query = useLLMProfile()
  const profile = query.data
  if (!profile) return <Loading query={query} />
  return (
    <>
      <p className="muted sm">{t('ownModelLead')}</p>
      {profile.is_allowed ? null : <p role="status">{t('ownModelForbidden')}</p>}
      {profile.model ? <OwnModelState profile={profile} /> : null}
      {profile.is_allowed ? (
        <section className={blocks.sec}>
          <h2 className={blocks.h}>{t('settings.ownModel')}</h2>
          <div className={blocks.b}>
            <RowForm row={profile.model ?? undefined} revision={profile.model?.revision ?? 0}>
              {(model, onSaved) => (
                <ModelForm
                  workspaceId={null}
                  providers={profile.allowed_providers}
                  current={model}
                  action={t('saveChanges')}
                  onDone={() => {
                    showToast(t('ownModelSaved'))
                    onSaved()
                  }}
                  onKeyDeleted={onSaved}
                />
              )}
            </RowForm>
          </div>
        </section>
      ) : null}
    </>
  )
}

function OwnModelState({ profile }: { profile: LLMProfileRow }) {
  const { t } = useTexts()
  return (
    <>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>
          {t('ownModelState')} <span className="muted">{profile.model?.default_model}</span>
        </h2>
        <div className={cx(blocks.b, 'col gap')}>
          <TestState profile={profile} />
          {profile.failed_at ? (
            <Problem
              text={t('ownModelFailed', {
                when: formatRelative(profile.failed_at),
                why: getRunErrorText(profile.failure_code, t('settingsOwnModel')),
              })}
              detail={profile.failure_message}
            />
          ) : null}
          <div className="row">
            <DeleteButton />
          </div>
        </div>
      </section>
      <section className={blocks.sec}>
        <h2 className={blocks.h}>{t('ownModelUses')}</h2>
        <ul className={cx(blocks.b, 'col gap')}>
          {profile.workspaces.map(use => (
            <li key={use.workspace_id}>
              <b>{use.name}</b>{' '}
              <span className="muted">
                {use.reason === 'llm_profile'
                  ? t('ownModelUsed')
                  : t('ownModelNotUsed', { why: getReasonText(use.reason) })}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

function TestState({ profile }: { profile: LLMProfileRow }) {
  const { t } = useTexts()
  if (!profile.tested_at) return <p className="muted">{t('ownModelUntested')}</p>
  const when = formatRelative(profile.tested_at)
  if (profile.test_code) {
    const text = t('ownModelTestFailed', { when, why: getRunErrorText(profile.test_code, t('settingsOwnModel')) })
    return <Problem text={text} detail={profile.test_message} />
  }
  return (
    <p className="ok">
      <Check className="i s" aria-hidden /> {t('ownModelTested', { when })}
    </p>
  )
}

function Problem({ text, detail }: { text: string; detail: string }) {
  return (
    <p className="no">
      <TriangleAlert className="i s" aria-hidden />
      <span>
        {text}{' '}
        <span className="muted" lang="en">
          {detail}
        </span>
      </span>
    </p>
  )
}

function DeleteButton() {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const remove = useDeleteLLMProfile()
  const confirm = () =>
    remove.mutate(undefined, {
      onSuccess: () => showToast(t('ownModelDeleted')),
      onError: error => showToast(getErrorText(error)),
      onSettled: () => setOpen(false),
    })
  return (
    <>
      <Button tone="bad" onClick={() => setOpen(true)}>
        {t('ownModelDelete')}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('ownModelDeleteTitle')}
        description={t('ownModelDeleteEffects')}
        action={t('ownModelDelete')}
        busy={remove.isPending ? t('removing') : null}
        onConfirm={confirm}
      />
    </>
  )
}
