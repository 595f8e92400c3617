export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const STORED = 'theme'

export const storedTheme = () => themes.find((theme) => theme === localStorage.getItem(STORED)) ?? 'auto'

/** Applies the chosen theme. With `auto`, the style sheet follows the system. */
export function applyTheme(theme: Theme = storedTheme()) {
  localStorage.setItem(STORED, theme)
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
