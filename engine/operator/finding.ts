/** The result of one check of `tallystick doctor`. */
export interface Finding {
  subject: 'packages' | 'settings' | 'database' | 'migrations' | 'clock' | 'mail' | 'folder'
  /** The result of the check, printed if there is no problem. */
  fact?: string
  /** A description of the problem, and how to solve it. */
  problem?: string | undefined
}
