import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Anmelden',
  signInFor: '{app} bittet um Zugriff auf Ihr Konto. Melden Sie sich an, um fortzufahren.',
  signInCaution:
    'Die App hat ihren Namen selbst gewählt. Melden Sie sich nur an, wenn Sie diese Anmeldung gestartet haben.',
  emailLabel: 'Ihre E-Mail-Adresse',
  sendCode: 'Code senden',
  codeTitle: 'Code eingeben',
  codeSent: 'Wir haben einen Code an {email} gesendet.',
  codeLabel: 'Sechs Ziffern',
  signIn: 'Anmelden',
  sendAnotherCode: 'Neuen Code senden',
  otherAddress: 'Andere E-Mail-Adresse verwenden',
  continueWith: 'Weiter mit {provider}',

  consentTitle: '{app} den Zugriff erlauben?',
  consentRequest: '{app} bittet um Zugriff auf das Konto {email}. Die App kann dann:',
  read: 'Ihre Daten ansehen: {resources}',
  write: 'Ihre Daten hinzufügen, ändern, teilen und löschen: {resources}',
  destination: 'Sie werden weitergeleitet an',
  description: 'Die App wird beschrieben von',
  website: 'die Website {host}',
  localProgram: 'ein Programm auf diesem Computer unter {host}',
  localApp: 'eine App auf diesem Gerät, die Links mit {scheme} öffnet',
  consentCaution:
    'Die App hat ihren Namen selbst gewählt. Erlauben Sie den Zugriff nur, wenn Sie diese Anmeldung gestartet haben und das Ziel kennen.',
  redirectAddress: 'Die vollständige Weiterleitungsadresse lautet {address}.',
  revocation: 'Sie können diesen Zugriff jederzeit unter „Geräte“ widerrufen.',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  unnamedApp: 'Eine App',

  deviceTitle: 'Gerät verbinden',
  signInForDevice:
    'Eine App auf einem anderen Gerät bittet um Zugriff auf Ihr Konto. Melden Sie sich an, um fortzufahren.',
  deviceInstruction: 'Geben Sie den Code ein, den die App auf Ihrem Gerät zeigt.',
  deviceCodeLabel: 'Acht Buchstaben',
  continue: 'Weiter',
  deviceCode: 'Die App zeigt den Code',
  deviceCaution:
    'Erlauben Sie den Zugriff nur, wenn Sie diese Anmeldung gestartet haben und Ihr Gerät genau diesen Code zeigt.',
  deviceAllowed: '{app} hat jetzt Zugriff. Kehren Sie zu Ihrem Gerät zurück.',
  deviceDenied: '{app} hat keinen Zugriff.',

  problemTitle: 'Die Anfrage ist fehlgeschlagen',
  BAD_REQUEST: 'Die Anfrage wiederholt einen Parameter oder ist nicht lesbar.',
  BANNED_USER: 'Dieses Konto ist gesperrt. Bitte wenden Sie sich an die Administration des Dienstes.',
  FOREIGN_FORM: 'Eine andere Seite hat dieses Formular gesendet. Beginnen Sie in der App noch einmal.',
  INTERNAL_SERVER_ERROR: 'Es ist ein Fehler aufgetreten. Bitte versuchen Sie es später noch einmal.',
  INVALID_EMAIL: 'Das ist keine gültige E-Mail-Adresse. Bitte prüfen Sie die Adresse.',
  INVALID_OTP:
    'Dieser Code ist nicht richtig. Prüfen Sie die sechs Ziffern in der neuesten E-Mail, oder fordern Sie einen neuen Code an.',
  INVALID_REQUEST: 'Die App hat eine unzulässige Anfrage gesendet: {details}',
  NOT_CONNECTED:
    'Für Ihre Adresse gibt es schon ein Konto. Melden Sie sich mit einem Code an, und verbinden Sie dann den Anbieter in Ihrem Konto.',
  OTP_EXPIRED: 'Dieser Code ist abgelaufen. Fordern Sie einen neuen Code an.',
  PROVIDER_FAILED:
    'Die Anmeldung beim Anbieter wurde nicht abgeschlossen. Versuchen Sie es noch einmal, oder verwenden Sie einen Code.',
  SERVICE_UNAVAILABLE:
    'Der Dienst antwortet im Moment nicht. Bitte versuchen Sie es in einer Minute noch einmal.',
  TOO_MANY_ATTEMPTS:
    'Es wurden zu viele falsche Codes eingegeben, deshalb ist der Code nicht mehr gültig. Fordern Sie einen neuen Code an.',
  TOO_MANY_REQUESTS:
    'Es gab zu viele Anfragen. Bitte versuchen Sie es in {minutes, plural, one {# Minute} other {# Minuten}} noch einmal.',
  UNAUTHORIZED: 'Sie sind nicht mehr angemeldet. Melden Sie sich noch einmal an.',
  UNKNOWN_APP: 'Die App, die Sie hierher geleitet hat, ist nicht oder nicht unter dieser Adresse bekannt.',
  UNKNOWN_DEVICE_CODE:
    'Dieser Code ist nicht richtig oder abgelaufen. Prüfen Sie die acht Buchstaben, oder beginnen Sie auf Ihrem Gerät von vorn.',
  UNVERIFIED_ADDRESS:
    'Der Anbieter hat Ihre E-Mail-Adresse nicht bestätigt. Melden Sie sich mit einem Code an.',
  letterSubject: '{code} ist Ihr Anmeldecode',
  letterCode: 'Ihr Anmeldecode lautet',
  letterUse: 'Melden Sie sich damit bei {name} an. Der Code läuft in fünf Minuten ab.',
  letterIgnore: 'Wenn Sie diesen Code nicht angefordert haben, ignorieren Sie diese E-Mail.',
  providerConnected: '{provider} ist jetzt mit Ihrem Konto bei {name} verbunden',
  providerDisconnected: '{provider} ist nicht mehr mit Ihrem Konto bei {name} verbunden',
  providerAdvice:
    'Wenn Sie das nicht waren, melden Sie sich mit einem Code an, und prüfen Sie die Geräte und Anbieter Ihres Kontos.',

  account: 'Konto',
}
