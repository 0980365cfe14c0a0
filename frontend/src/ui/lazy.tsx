import { type ComponentType, type LazyExoticComponent, lazy as reactLazy } from 'react'
import { isMissingFile, reloadOnce } from '@/lib/chunkReload'
import { useTexts } from '@/lib/language'
import buttonStyles from './Button.module.css'
import styles from './lazy.module.css'

interface Part<P> {
  default: ComponentType<P>
}

/** Like `lazy` of React. If the file is missing after a deploy, the page is reloaded, or `fallback` is rendered if input would be lost. */
export function lazy<P>(
  load: () => Promise<Part<P>>,
  fallback: ComponentType<P> = ReloadNotice,
): LazyExoticComponent<ComponentType<P>> {
  return reactLazy(() => load().catch((error: unknown) => handleLoadError(error, { default: fallback })))
}

async function handleLoadError<P>(error: unknown, fallback: Part<P>): Promise<Part<P>> {
  if (!isMissingFile(error)) throw error
  // Keep the page as it is while it reloads.
  return (await reloadOnce()) ? new Promise(() => undefined) : fallback
}

function ReloadNotice() {
  const { t } = useTexts()
  return (
    <div className={styles.loadAgain} role="alert">
      <span>{t('partMissing')}</span>
      {/* Not a `Button`, whose tooltip is lazy itself. */}
      <button type="button" className={buttonStyles.btn} onClick={() => location.reload()}>
        {t('reload')}
      </button>
    </div>
  )
}
