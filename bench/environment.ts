/** The code of every sign-in at a peer. Tallystick sends its codes by e-mail. */
export const SIGN_IN_CODE = '135790'

/** Reads the settings that Tallystick and the peers have in common. */
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

export const reportListening = () => process.stdout.write('listening\n')
