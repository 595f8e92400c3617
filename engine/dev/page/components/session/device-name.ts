/** The service returns this value for a browser or a system that it does not recognize. */
const UNKNOWN = 'Unknown'

/** Returns the browser and the system of a device, such as `Firefox · Linux`. Undefined for an unknown browser. */
export const nameOfDevice = ({ browser, os }: { browser: string; os: string }) =>
  browser === UNKNOWN ? undefined : [browser, os].filter((name) => name !== UNKNOWN).join(' · ')
