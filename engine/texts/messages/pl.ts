import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Logowanie',
  signInFor: '{app} prosi o dostęp do Państwa konta. Aby kontynuować, proszę się zalogować.',
  signInCaution:
    'Aplikacja sama wybrała swoją nazwę. Proszę się logować tylko wtedy, gdy logowanie zostało rozpoczęte przez Państwa.',
  emailLabel: 'Adres e-mail',
  sendCode: 'Wyślij kod',
  codeTitle: 'Proszę podać kod',
  codeSent: 'Wysłaliśmy kod na adres {email}.',
  codeLabel: 'Sześć cyfr',
  signIn: 'Zaloguj się',
  sendAnotherCode: 'Wyślij inny kod',
  otherAddress: 'Użyj innego adresu e-mail',
  continueWith: 'Kontynuuj przez {provider}',

  consentTitle: 'Zezwolić aplikacji {app} na dostęp?',
  consentRequest: '{app} prosi o dostęp do konta {email}. Aplikacja będzie mogła:',
  read: 'wyświetlać Państwa dane: {resources}',
  write: 'dodawać, zmieniać, udostępniać i usuwać Państwa dane: {resources}',
  destination: 'Nastąpi przekierowanie do',
  description: 'Opis aplikacji udostępnia',
  website: 'witryna {host}',
  localProgram: 'program na tym komputerze pod adresem {host}',
  localApp: 'aplikacja na tym urządzeniu, która otwiera linki {scheme}',
  consentCaution:
    'Aplikacja sama wybrała swoją nazwę. Proszę zezwolić na dostęp tylko wtedy, gdy logowanie zostało rozpoczęte przez Państwa, a miejsce docelowe jest Państwu znane.',
  redirectAddress: 'Pełny adres przekierowania to {address}.',
  revocation: 'Ten dostęp można w każdej chwili cofnąć w sekcji „Urządzenia”.',
  allow: 'Zezwól',
  deny: 'Odmów',
  unnamedApp: 'Aplikacja',

  deviceTitle: 'Połącz urządzenie',
  signInForDevice:
    'Aplikacja na innym urządzeniu prosi o dostęp do Państwa konta. Aby kontynuować, proszę się zalogować.',
  deviceInstruction: 'Proszę wpisać kod, który aplikacja pokazuje na urządzeniu.',
  deviceCodeLabel: 'Osiem liter',
  continue: 'Dalej',
  deviceCode: 'Aplikacja pokazuje kod',
  deviceCaution:
    'Proszę zezwolić na dostęp tylko wtedy, gdy to Państwo rozpoczęli to logowanie, a urządzenie pokazuje dokładnie ten kod.',
  deviceAllowed: '{app} ma teraz dostęp. Proszę wrócić do urządzenia.',
  deviceDenied: '{app} nie ma dostępu.',

  problemTitle: 'Żądanie nie powiodło się',
  BAD_REQUEST: 'Żądanie powtarza parametr lub nie można go odczytać.',
  BANNED_USER: 'To konto jest zablokowane. Proszę skontaktować się z administratorem usługi.',
  FOREIGN_FORM: 'Ten formularz wysłała inna strona. Proszę zacząć ponownie w aplikacji.',
  INTERNAL_SERVER_ERROR: 'Wystąpił błąd. Proszę spróbować ponownie później.',
  INVALID_EMAIL: 'To nie jest prawidłowy adres e-mail. Proszę sprawdzić adres.',
  INVALID_OTP:
    'Ten kod jest nieprawidłowy. Proszę sprawdzić sześć cyfr w najnowszej wiadomości lub poprosić o inny kod.',
  INVALID_REQUEST: 'Aplikacja wysłała niedozwolone żądanie: {details}',
  NOT_CONNECTED:
    'Ten adres ma już konto. Proszę zalogować się kodem, a potem połączyć dostawcę w ustawieniach konta.',
  OTP_EXPIRED: 'Ten kod wygasł. Proszę poprosić o inny kod.',
  PROVIDER_FAILED: 'Logowanie u dostawcy nie zostało ukończone. Proszę spróbować ponownie lub użyć kodu.',
  SERVICE_UNAVAILABLE: 'Usługa w tej chwili nie odpowiada. Proszę spróbować ponownie za minutę.',
  TOO_MANY_ATTEMPTS:
    'Zbyt wiele razy podano błędny kod, dlatego kod stracił ważność. Proszę poprosić o inny kod.',
  TOO_MANY_REQUESTS:
    'Było zbyt wiele żądań. Proszę spróbować ponownie za {minutes, plural, one {# minutę} few {# minuty} many {# minut} other {# minuty}}.',
  UNAUTHORIZED: 'Sesja wygasła. Proszę zalogować się ponownie.',
  UNKNOWN_APP: 'Aplikacja, z której nastąpiło przekierowanie, jest nieznana lub nie działa pod tym adresem.',
  UNKNOWN_DEVICE_CODE:
    'Ten kod jest nieprawidłowy lub wygasł. Proszę sprawdzić osiem liter albo zacząć od nowa na urządzeniu.',
  UNVERIFIED_ADDRESS: 'Dostawca nie potwierdził adresu e-mail. Proszę zalogować się kodem.',
  letterSubject: '{code} to kod logowania',
  letterCode: 'Kod logowania to',
  letterUse: 'Proszę użyć go, aby zalogować się do {name}. Kod wygaśnie za pięć minut.',
  letterIgnore: 'Jeśli to nie Państwo prosili o ten kod, proszę zignorować tę wiadomość.',
  providerConnected: '{provider}: połączono z Państwa kontem w {name}',
  providerDisconnected: '{provider}: odłączono od Państwa konta w {name}',
  providerAdvice:
    'Jeśli to nie Państwo, proszę zalogować się kodem oraz sprawdzić urządzenia i dostawców konta.',

  account: 'konto',
}
