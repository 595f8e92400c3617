import { z } from 'zod'

import { BuildError } from './contract.ts'

const Message = z.object({ buildErrors: z.array(BuildError) })

/**
 * The errors of the last build. `tallystick dev` starts the service again after each build without errors, and sends the errors of the
 * other builds to the service that continues.
 */
let buildErrors: BuildError[] = []

export const listBuildErrors = () => buildErrors

/** Receives build errors from `tallystick dev`, by the channel between the processes. */
export const receiveBuildErrors = () => {
  process.on('message', (message) => {
    const { data } = Message.safeParse(message)
    if (data) ({ buildErrors } = data)
  })
}
