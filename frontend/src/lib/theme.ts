/** The theme: light, dark, or that of the system. */
import { observable, useSelector } from './observable'

export type Theme = 'system' | 'light' | 'dark'
export const themes: readonly Theme[] = ['system', 'light', 'dark']

const STORAGE_KEY = 'atelier.theme'
const theme = observable<Theme>('system')

function applyTheme(next: Theme): void {
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  theme.set(next)
}

export function applyChosenTheme(): void {
  applyTheme(themes.find(theme => theme === localStorage.getItem(STORAGE_KEY)) ?? 'system')
}

export function chooseTheme(next: Theme): void {
  localStorage.setItem(STORAGE_KEY, next)
  applyTheme(next)
}

const identity = (value: Theme) => value
export const useTheme = () => useSelector(theme, identity)
