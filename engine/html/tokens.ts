/** The colors of all pages in the light and in the dark theme, by their role. */
export const colors = {
  page: ['#f5f7f7', '#13171f'],
  surface: ['#ffffff', '#1b212c'],
  line: ['#d8dfdf', '#2d3644'],
  text: ['#1f2a2e', '#e0e5ec'],
  muted: ['#5a666a', '#9aa5b6'],
  control: ['#7d8a8d', '#6f7c90'],
  accent: ['#0b655e', '#5eead4'],
  'accent-hover': ['#084c47', '#99f6e4'],
  fill: ['#0f766e', '#10807a'],
  'fill-hover': ['#0b5f58', '#0f766e'],
  'on-fill': ['#ffffff', '#ffffff'],
  danger: ['#b3261e', '#ff9b92'],
  'danger-surface': ['#fdecea', '#3b1512'],
  'notice-surface': ['#fff4d6', '#3a2f0b'],
} as const

/** Space, sizes of texts, radii, the height of fields and buttons, and the line around the element with the focus. */
const sizes = {
  'space-1': '0.25rem',
  'space-2': '0.5rem',
  'space-3': '0.75rem',
  'space-4': '1rem',
  'space-5': '1.25rem',
  'space-6': '1.5rem',
  'space-8': '2rem',
  'text-small': '0.875rem',
  'text-body': '1rem',
  'text-title': '1.25rem',
  radius: '0.5rem',
  'radius-round': '1rem',
  'control-height': '2.625rem',
  focus: '3px solid var(--accent)',
}

/** The tokens as custom properties of CSS. `color-scheme` selects the theme. */
export const tokens = `:root {
${Object.entries(colors)
  .map(([name, [light, dark]]) => `  --${name}: light-dark(${light}, ${dark});\n`)
  .join('')}${Object.entries(sizes)
  .map(([name, size]) => `  --${name}: ${size};\n`)
  .join('')}}
`
