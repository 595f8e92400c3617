/** The paths of the views that every application has (engine/dev/page/views.ts), for the build, which writes a file for each path. */
export const accountPaths = ['/devices', '/account', '/people'] as const
