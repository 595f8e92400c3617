declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on the whole file; false where another process holds it. */
  export function tryLock(fd: number): boolean
  /** Takes it once nobody else holds it. */
  export function waitForLock(fd: number): Promise<void>
}
