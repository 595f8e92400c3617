import { accountPaths } from 'tallystick-dev/page/paths'

/** The paths of the page. The build writes a file for each path, and the service serves these files. */
export const paths = ['/', '/tasks', '/notes', ...accountPaths, '/reservation'] as const

export type Path = (typeof paths)[number]
