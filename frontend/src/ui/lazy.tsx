import { type ComponentType, type LazyExoticComponent, lazy as reactLazy } from 'react'
import { isMissingFile, reloadOnce } from '@/lib/chunkReload'
import { loadLazyTexts, useTexts } from '@/lib/language'
import buttonStyles from './Button.module.css'
import styles from './lazy.module.css'

interface Part<P> {
  default: ComponentType<P>
}

interface Options<P> {
  /** Rendered if the file is missing and the page is not reloaded, for example because input would be lost. */
  fallback?: ComponentType<P>
  /** Whether the part has texts that the first page lacks. */
  hasLazyTexts?: boolean
}

/** Like `lazy` of React, with the texts of lazy parts. If a file is missing after a deploy, the page is reloaded. */
export function lazy<P>(
  load: () => Promise<Part<P>>,
  { fallback = ReloadNotice, hasLazyTexts = true }: Options<P> = {},
): LazyExoticComponent<ComponentType<P>> {
  const loadPart = async () => {
    const [part] = await Promise.all([load(), hasLazyTexts ? loadLazyTexts() : null])
    return part
  }
  return reactLazy(() => loadPart().catch((error: unknown) => handleLoadError(error, { default: fallback })))
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
