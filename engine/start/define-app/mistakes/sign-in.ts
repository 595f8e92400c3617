import { isLoopback } from '../../../settings/loopback.ts'
import { declaredProviders, type SignIn } from '../../../app/sign-in.ts'

const ID = /^[a-z][a-z0-9-]{0,30}$/

/** Whether nobody between the service and the provider can change the keys of the provider. */
function isSecure(url: string) {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Returns a sentence for each mistake of the providers. */
export function mistakesOfSignIn(signIn: SignIn = {}) {
  const ids = declaredProviders(signIn).map(({ id }) => id)
  return [
    ...ids.flatMap((id, index) =>
      ids.indexOf(id) === index ? [] : [`signIn: two providers have the id ${id}`],
    ),
    ...(signIn.oidc ?? []).flatMap(({ providerId, name, discoveryUrl }) => [
      ...(ID.test(providerId)
        ? []
        : [
            `signIn: the id ${JSON.stringify(providerId)} must have up to 31 lower-case letters, digits and hyphens, and begin with a letter`,
          ]),
      ...(name.trim() === '' ? [`signIn: the provider ${providerId} has no name for its button`] : []),
      ...(discoveryUrl && !isSecure(discoveryUrl)
        ? [`signIn: \`discoveryUrl\` of ${providerId} must be an https address: ${discoveryUrl}`]
        : []),
    ]),
  ]
}
