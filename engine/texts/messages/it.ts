import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Accesso',
  signInFor: '{app} richiede l’accesso al Suo account. Acceda per continuare.',
  signInCaution: 'L’app ha scelto da sé il proprio nome. Acceda solo se ha avviato Lei questo accesso.',
  emailLabel: 'Il Suo indirizzo e-mail',
  sendCode: 'Invia un codice',
  codeTitle: 'Inserisca il codice',
  codeSent: 'Abbiamo inviato un codice a {email}.',
  codeLabel: 'Sei cifre',
  signIn: 'Accedi',
  sendAnotherCode: 'Invia un altro codice',
  otherAddress: 'Usa un altro indirizzo e-mail',
  continueWith: 'Continua con {provider}',

  consentTitle: 'Autorizzare {app}?',
  consentRequest: '{app} richiede l’accesso all’account {email}. Potrà:',
  read: 'vedere i Suoi dati: {resources}',
  write: 'aggiungere, modificare, condividere ed eliminare i Suoi dati: {resources}',
  destination: 'Sarà reindirizzato a',
  description: 'L’app è descritta da',
  website: 'il sito web {host}',
  localProgram: 'un programma su questo computer, all’indirizzo {host}',
  localApp: 'un’app su questo dispositivo che apre i link {scheme}',
  consentCaution:
    'L’app ha scelto da sé il proprio nome. Consenta l’accesso solo se ha avviato Lei questo accesso e riconosce la destinazione.',
  redirectAddress: 'L’indirizzo di reindirizzamento completo è {address}.',
  revocation: 'Può revocare questo accesso in qualsiasi momento in «Dispositivi».',
  allow: 'Consenti',
  deny: 'Nega',
  unnamedApp: 'Un’app',

  deviceTitle: 'Collega un dispositivo',
  signInForDevice: 'Un’app su un altro dispositivo richiede l’accesso al Suo account. Acceda per continuare.',
  deviceInstruction: 'Inserisca il codice che l’app mostra sul Suo dispositivo.',
  deviceCodeLabel: 'Otto lettere',
  continue: 'Continua',
  deviceCode: 'L’app mostra il codice',
  deviceCaution:
    'Consenta l’accesso solo se ha avviato Lei questo accesso e se il Suo dispositivo mostra esattamente questo codice.',
  deviceAllowed: '{app} ora ha accesso. Torni al Suo dispositivo.',
  deviceDenied: '{app} non ha accesso.',

  problemTitle: 'La richiesta non è riuscita',
  BAD_REQUEST: 'La richiesta ripete un parametro o non è leggibile.',
  BANNED_USER: 'Questo account è bloccato. Si prega di contattare l’amministratore del servizio.',
  FOREIGN_FORM: 'Un’altra pagina ha inviato questo modulo. Ricominci nell’app.',
  INTERNAL_SERVER_ERROR: 'Si è verificato un errore. Si prega di riprovare più tardi.',
  INVALID_EMAIL: 'Questo indirizzo e-mail non è valido. Si prega di controllarlo.',
  INVALID_OTP:
    'Questo codice non è corretto. Controlli le sei cifre nell’e-mail più recente o richieda un altro codice.',
  INVALID_REQUEST: 'L’app ha inviato una richiesta non consentita: {details}',
  NOT_CONNECTED:
    'Il Suo indirizzo ha già un account. Acceda con un codice, poi colleghi il fornitore nel Suo account.',
  OTP_EXPIRED: 'Questo codice è scaduto. Richieda un altro codice.',
  PROVIDER_FAILED: 'L’accesso presso il fornitore non è stato completato. Riprovi, o usi un codice.',
  SERVICE_UNAVAILABLE: 'Il servizio al momento non risponde. Si prega di riprovare tra un minuto.',
  TOO_MANY_ATTEMPTS:
    'Sono stati inseriti troppi codici errati e il codice non è più valido. Richieda un altro codice.',
  TOO_MANY_REQUESTS:
    'Ci sono state troppe richieste. Si prega di riprovare tra {minutes, plural, one {# minuto} many {# di minuti} other {# minuti}}.',
  UNAUTHORIZED: 'La sessione è terminata. Acceda di nuovo.',
  UNKNOWN_APP: 'L’app che L’ha inviata qui non è nota o non lo è a questo indirizzo.',
  UNKNOWN_DEVICE_CODE:
    'Questo codice non è corretto o è scaduto. Controlli le otto lettere, oppure ricominci sul Suo dispositivo.',
  UNVERIFIED_ADDRESS: 'Il fornitore non ha verificato il Suo indirizzo e-mail. Acceda con un codice.',
  letterSubject: '{code} è il Suo codice di accesso',
  letterCode: 'Il Suo codice di accesso è',
  letterUse: 'Lo usi per accedere a {name}. Scade tra cinque minuti.',
  letterIgnore: 'Se non ha richiesto questo codice, ignori questa e-mail.',
  providerConnected: '{provider} è ora collegato al Suo account su {name}',
  providerDisconnected: '{provider} non è più collegato al Suo account su {name}',
  providerAdvice:
    'Se non è stato Lei, acceda con un codice e controlli i dispositivi e i fornitori del Suo account.',

  account: 'account',
}
