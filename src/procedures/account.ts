import { signedIn } from '../access.ts'

const os = signedIn.account

export const account = os.router({
  get: os.get.handler(({ context: { user } }) => {
    const { id, name, email, emailVerified } = user
    return { id, name, email, emailVerified }
  }),
})
