declare module 'fs-native-extensions' {
  /** Locks the whole file exclusively. Returns false if another process has locked the file. */
  export function tryLock(fd: number): boolean
  /** Locks the whole file exclusively. Waits while another process has locked the file. */
  export function waitForLock(fd: number): Promise<void>
}
