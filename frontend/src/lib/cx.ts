/** Join the class names that are not falsy. */
export const cx = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(' ')
