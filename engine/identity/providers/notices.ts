import type { Logger } from 'pino'

import type { ProviderName } from '../../app/sign-in.ts'
import { renderMail } from '../../html/mail.ts'
import { negotiateLanguage } from '../../texts/engine-texts.ts'
import { codesOfDelivery, type Mailer } from '../mail.ts'

/** Tells a person that a provider was connected or disconnected. A delivery error is logged: the change is committed. */
export type SendNotice = (
  message: 'providerConnected' | 'providerDisconnected',
  to: string,
  providerId: string,
  headers: Headers | undefined,
) => Promise<void>

interface Parts {
  appName: string
  providers: readonly ProviderName[]
  mailer: Mailer
  log: Pick<Logger, 'error'>
}

export const createNotices =
  ({ appName, providers, mailer, log }: Parts): SendNotice =>
  async (message, to, providerId, headers) => {
    const translator = negotiateLanguage(headers?.get('accept-language') ?? '')
    // A provider that is no longer declared has only its id.
    const provider = providers.find(({ id }) => id === providerId)?.name ?? providerId
    const text = translator.translate(message, { provider, name: appName })
    await mailer({
      to,
      headers: { 'content-language': translator.language },
      subject: text,
      ...renderMail(translator, {
        name: appName,
        paragraphs: [text],
        advice: translator.translate('providerAdvice'),
      }),
    }).catch((error: unknown) => {
      log.error(codesOfDelivery(error), 'an e-mail about a provider could not be delivered')
    })
  }
