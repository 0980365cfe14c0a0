/** The arc of something that goes on. */
export const Busy = () => <i className="busy" aria-hidden />
