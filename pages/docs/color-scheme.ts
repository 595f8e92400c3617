/** Sets the class for the dark colors of Swagger UI if the browser prefers dark colors. */
export function followColorScheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', apply)
  apply()
}
