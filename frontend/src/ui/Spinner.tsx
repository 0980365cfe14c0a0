import styles from './Spinner.module.css'

/** The arc of something that goes on. */
export const Spinner = () => <i className={styles.busy} aria-hidden />
