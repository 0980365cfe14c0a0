/** Light, dark, or as the system is. */
import { observable, useSelector } from './observable'

export type Theme = 'system' | 'light' | 'dark'
export const themes: readonly Theme[] = ['system', 'light', 'dark']

const STORED = 'atelier.theme'
const theme = observable<Theme>('system')

function show(next: Theme): void {
  if (next === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = next
  theme.set(next)
}

export function showChosenTheme(): void {
  show(themes.find(each => each === localStorage.getItem(STORED)) ?? 'system')
}

export function chooseTheme(next: Theme): void {
  localStorage.setItem(STORED, next)
  show(next)
}

const identity = (value: Theme) => value
export const useTheme = () => useSelector(theme, identity)
