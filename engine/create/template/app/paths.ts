import { accountPaths } from 'tallystick/page/paths'

/** The paths of the page. The build writes a file for each path. */
export const paths = [
  '/',
  '/bookmarks', // app/views/bookmarks.tsx
  ...accountPaths,
] as const

export type Path = (typeof paths)[number]
