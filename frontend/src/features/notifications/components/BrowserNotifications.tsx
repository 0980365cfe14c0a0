import { useState } from 'react'
import { useTexts } from '@/lib/language'
import { Button } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Switch } from '@/ui/Switch'
import { showToast } from '@/ui/toast'
import { type BrowserState, switchOff, switchOn, useBrowserState } from '../browserState'

/** Where a person switches on that this browser shows notifications. */
export function BrowserNotifications() {
  const { t } = useTexts()
  const state = useBrowserState()
  const [isDismissed, setDismissed] = useState(false)
  const change = async (isOn: boolean) => {
    if (isOn) setDismissed(!(await switchOn()))
    else switchOff()
  }
  const showOne = () => {
    try {
      new Notification(t('browserNotifications.testTitle'), { tag: 'test' })
    } catch {
      showToast(t('browserNotifications.unsupported'))
    }
  }
  return (
    <section className={blocks.sec}>
      <h2 className={blocks.h}>{t('browserNotifications.title')}</h2>
      <div className={blocks.b}>
        <div className="col gap">
          <div className="row spread">
            <span className="col">
              {t('browserNotifications.on')}
              <span className="hint">{t('browserNotifications.onHint')}</span>
            </span>
            <Switch
              label={t('browserNotifications.on')}
              on={state === 'on'}
              disabled={state === 'unsupported' || state === 'denied'}
              onChange={isOn => void change(isOn)}
            />
          </div>
          <Problem state={state} isDismissed={isDismissed} />
          <p className="hint">{t('browserNotifications.kinds')}</p>
          {state === 'on' ? (
            <div className="row">
              <Button onClick={showOne}>{t('browserNotifications.test')}</Button>
            </div>
          ) : null}
        </div>
      </div>
    </section>
  )
}

interface ProblemProps {
  state: BrowserState
  /** Whether the person closed the question of the browser without an answer. */
  isDismissed: boolean
}

/** Why they cannot be switched on, and what helps. */
function Problem({ state, isDismissed }: ProblemProps) {
  const { t } = useTexts()
  if (state === 'on' || (state === 'off' && !isDismissed)) return null
  return <p role="alert">{t(`browserNotifications.${state === 'off' ? 'dismissed' : state}`)}</p>
}
