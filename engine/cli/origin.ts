/** The origin of the service that a command without --at calls. */
export const defaultOrigin = () => process.env.TALLYSTICK_ORIGIN ?? 'http://localhost:3000'
