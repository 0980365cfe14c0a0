import styles from './Spinner.module.css'

/** A spinner. */
export const Spinner = () => <i className={styles.busy} aria-hidden />
