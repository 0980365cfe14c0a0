import { cx } from '@/lib/cx'
import styles from './Logo.module.css'

/** The name of the product with its logo. */
export const Logo = () => (
  <span className={cx(styles.ws, styles.brand)}>
    <span className={styles.logo} aria-hidden>
      A
    </span>
    Atelier
  </span>
)
