/** Moves the focus to the composer of a chat, or to the main element of any other screen. */
export function skipToMain(): void {
  const composer = document.querySelector<HTMLElement>('[data-pane=composer] textarea')
  const main = document.querySelector('main')
  if (main && !composer) main.tabIndex = -1
  const target = composer ?? main
  target?.focus()
}
