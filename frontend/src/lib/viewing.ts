/** Whether an operator views as the person of this page (`docs/security.md`). Set once per page: another person gets a new page. */
let isViewingAs = false

export function setViewing(value: boolean): void {
  isViewingAs = value
}

/** Returns whether this page shows what another person sees, and can change nothing. */
export const isViewing = () => isViewingAs
