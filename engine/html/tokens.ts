/** The colors of all pages in the light and in the dark theme, by their role. */
export const colors = {
  page: ['#fcfcfd', '#0f1113'],
  surface: ['#ffffff', '#1a1b1f'],
  line: ['#e2e4e7', '#2c2e34'],
  edge: ['#c3c7cd', '#4b4e57'],
  hover: ['#eef0f2', '#25272c'],
  text: ['#1b1d21', '#e6e8eb'],
  muted: ['#5c626b', '#9ba1ab'],
  control: ['#82888f', '#71767f'],
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
  'text-small': '0.8125rem',
  'text-body': '0.875rem',
  'text-strong': '1rem',
  'text-title': '1.25rem',
  radius: '0.375rem',
  'radius-round': '1rem',
  'control-height': '2.25rem',
  focus: '2px solid var(--accent)',
}

/** The tokens as custom properties of CSS. `color-scheme` selects the theme. */
export const tokens = `:root {
${Object.entries(colors)
  .map(([name, [light, dark]]) => `  --${name}: light-dark(${light}, ${dark});\n`)
  .join('')}${Object.entries(sizes)
  .map(([name, size]) => `  --${name}: ${size};\n`)
  .join('')}}
`
