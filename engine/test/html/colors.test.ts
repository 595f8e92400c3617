import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

import { colors, tokens } from '../../html/tokens.ts'

/** The relative luminance of a color, as WCAG 2.2 defines it. */
function luminanceOf(color: string) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = parseInt(color.slice(start, start + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrastOf(one: string, other: string) {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

type Color = keyof typeof colors

/** The backgrounds of each color of texts. */
const texts: Partial<Record<Color, Color[]>> = {
  text: ['page', 'surface', 'danger-surface', 'notice-surface'],
  muted: ['page', 'surface'],
  accent: ['page', 'surface', 'notice-surface'],
  'accent-hover': ['page', 'surface'],
  'on-fill': ['fill', 'fill-hover'],
  danger: ['page', 'surface', 'danger-surface'],
}

/** The backgrounds of borders of controls, of the focus, and of filled buttons. */
const borders: Partial<Record<Color, Color[]>> = {
  control: ['page', 'surface'],
  accent: ['page', 'surface'],
  fill: ['page', 'surface'],
}

const pairs = (kinds: Partial<Record<Color, Color[]>>) =>
  Object.entries(kinds).flatMap(([color, backgrounds]) =>
    backgrounds.map((background) => [color as Color, background] as const),
  )

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('in the %s theme', (_, theme) => {
  test.each(pairs(texts))('%s on %s has the contrast of texts', (color, background) => {
    expect(contrastOf(colors[color][theme], colors[background][theme])).toBeGreaterThanOrEqual(4.5)
  })

  test.each(pairs(borders))('%s on %s has the contrast of borders', (color, background) => {
    expect(contrastOf(colors[color][theme], colors[background][theme])).toBeGreaterThanOrEqual(3)
  })
})

test('no color looks like a code for the sign-in', () => {
  for (const color of Object.values(colors).flat()) expect(color).not.toMatch(/^#\d{6}$/)
})

test('the style sheet of the page has the same tokens', () => {
  expect(readFileSync('engine/dev/page/tokens.css', 'utf8'), 'npm run tokens updates the style sheet').toBe(
    tokens,
  )
})
