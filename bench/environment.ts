/** What every server is told, ours and the peers. */
export function readEnvironment() {
  const { PORT, DATABASE_URL, AUTH_SECRET, BASE_URL, SERVICE = 'bench', RELEASE = 'bench' } = process.env
  if (!PORT || !DATABASE_URL || !AUTH_SECRET || !BASE_URL)
    throw new Error('PORT, DATABASE_URL, AUTH_SECRET and BASE_URL must be set')
  return {
    port: Number(PORT),
    databaseUrl: DATABASE_URL,
    secret: AUTH_SECRET,
    baseUrl: BASE_URL,
    status: { status: 'ok', service: SERVICE, release: RELEASE } as const,
  }
}

/** Told once a peer answers. */
export const announce = () => process.stdout.write('listening\n')
