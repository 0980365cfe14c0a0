import { type ComponentType, type LazyExoticComponent, lazy as reactLazy } from 'react'
import { isMissingFile, reloadOnce } from '@/lib/chunkReload'
import { useTexts } from '@/lib/language'
import { Button } from './Button'
import styles from './lazy.module.css'

interface Part<P> {
  default: ComponentType<P>
}

/** React's `lazy` for a part of a page. When its file is gone, the page loads itself anew if nothing is lost by it; else `instead` is drawn. */
export function lazy<P>(
  load: () => Promise<Part<P>>,
  instead: ComponentType<P> = LoadAgain,
): LazyExoticComponent<ComponentType<P>> {
  return reactLazy(() => load().catch((error: unknown) => insteadOf(error, { default: instead })))
}

async function insteadOf<P>(error: unknown, instead: Part<P>): Promise<Part<P>> {
  if (!isMissingFile(error)) throw error
  // While the page loads anew, this one stays as it is.
  return (await reloadOnce()) ? new Promise(() => undefined) : instead
}

function LoadAgain() {
  const { t } = useTexts()
  return (
    <div className={styles.loadAgain} role="alert">
      <span>{t('partMissing')}</span>
      <Button onClick={() => location.reload()}>{t('reload')}</Button>
    </div>
  )
}
