import { z } from 'zod'

/**
 * The arguments and options of all service commands, as texts of the command line. Empty texts are the defaults, because
 * each command uses only some of the fields, and checks these itself.
 */
export const CommandInput = z.object({
  email: z.string().default(''),
  id: z.string().optional(),
  all: z.literal(true).optional(),
  person: z.string().optional(),
  action: z.string().optional(),
  outcome: z.string().optional(),
  limit: z.string().default(''),
  before: z.string().optional(),
  queue: z.string().optional(),
})
export type CommandInput = z.infer<typeof CommandInput>
