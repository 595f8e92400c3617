import { accountPaths } from 'tallystick-dev/page/paths'

/** The paths of the page. The build writes a file for each path. */
export const paths = [
  '/',
  '/ideas', // app/views/ideas.tsx
  ...accountPaths,
] as const

export type Path = (typeof paths)[number]
