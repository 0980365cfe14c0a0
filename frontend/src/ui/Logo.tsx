import { cx } from '@/lib/cx'
import styles from './Logo.module.css'

/** The product's name with its mark. */
export const Logo = () => (
  <span className={cx(styles.ws, styles.brand)}>
    <span className={styles.logo} aria-hidden>
      A
    </span>
    Atelier
  </span>
)
