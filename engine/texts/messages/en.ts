// The source of all translations, in ICU MessageFormat.

/** The texts of pages and e-mails in every application. The files of all languages have these texts. */
export const texts = {
  signInTitle: 'Sign in',
  signInFor: '{app} requests access to your account. Sign in to continue.',
  signInCaution: 'The app chose its name itself. Sign in only if you started this sign-in.',
  emailLabel: 'Your e-mail address',
  sendCode: 'Send me a code',
  codeTitle: 'Enter the code',
  codeSent: 'We sent a code to {email}.',
  codeLabel: 'Six digits',
  signIn: 'Sign in',
  sendAnotherCode: 'Send another code',
  otherAddress: 'Use a different e-mail address',
  continueWith: 'Continue with {provider}',

  consentTitle: 'Authorize {app}?',
  consentRequest: '{app} requests access to the account {email}. It will be able to:',
  read: 'see your {resources}',
  write: 'add, change, share and delete your {resources}',
  destination: 'You will be sent to',
  description: 'The app is described by',
  website: 'the website {host}',
  localProgram: 'a program on this computer, at {host}',
  localApp: 'an app on this device that opens {scheme} links',
  consentCaution:
    'The app chose its name itself. Allow access only if you started this sign-in and recognize the destination.',
  redirectAddress: 'The complete redirect address is {address}.',
  revocation: 'You can revoke this access at any time under “Devices”.',
  allow: 'Allow',
  deny: 'Deny',
  unnamedApp: 'An app',

  deviceTitle: 'Connect a device',
  signInForDevice: 'An app on another device requests access to your account. Sign in to continue.',
  deviceInstruction: 'Enter the code that the app shows on your device.',
  deviceCodeLabel: 'Eight letters',
  continue: 'Continue',
  deviceCode: 'The app shows the code',
  deviceCaution: 'Allow access only if you started this sign-in, and your device shows exactly this code.',
  deviceAllowed: '{app} has access now. Return to your device.',
  deviceDenied: '{app} has no access.',

  problemTitle: 'The request failed',
  // The errors that a page can show, by code.
  BAD_REQUEST: 'The request repeats a parameter, or cannot be read.',
  BANNED_USER: 'This account is blocked. Please contact the administrator of the service.',
  FOREIGN_FORM: 'Another page sent this form. Start again in the app.',
  INTERNAL_SERVER_ERROR: 'Something went wrong. Please try again later.',
  INVALID_EMAIL: 'This is not a valid e-mail address. Please check the address.',
  INVALID_OTP:
    'This code is not correct. Check the six digits in the newest e-mail, or request another code.',
  INVALID_REQUEST: 'The app sent a request that is not allowed: {details}',
  NOT_CONNECTED:
    'Your address already has an account. Sign in with a code, then connect the provider in your account.',
  OTP_EXPIRED: 'This code has expired. Request another code.',
  PROVIDER_FAILED: 'The sign-in at the provider was not completed. Try again, or use a code.',
  SERVICE_UNAVAILABLE: 'The service does not answer at the moment. Please try again in a minute.',
  TOO_MANY_ATTEMPTS:
    'Too many wrong codes were entered, so the code is no longer valid. Request another code.',
  TOO_MANY_REQUESTS:
    'Too many requests. Please try again in {minutes, plural, one {# minute} other {# minutes}}.',
  UNAUTHORIZED: 'You are no longer signed in. Sign in again.',
  UNKNOWN_APP: 'The app that sent you here is not known, or not at this address.',
  UNKNOWN_DEVICE_CODE:
    'This code is not correct, or has expired. Check the eight letters, or start again on your device.',
  UNVERIFIED_ADDRESS: 'The provider has not verified your e-mail address. Sign in with a code.',

  // The e-mail with a sign-in code. Notifications show only the beginning of the subject, so the subject begins with
  // the code in every language.
  letterSubject: '{code} is your sign-in code',
  letterCode: 'Your sign-in code is',
  letterUse: 'Use it to sign in to {name}. It expires in five minutes.',
  letterIgnore: 'If you did not request this code, ignore this e-mail.',

  // The e-mail about a provider. The first two texts are also the subject.
  providerConnected: '{provider} is now connected to your account at {name}',
  providerDisconnected: '{provider} is no longer connected to your account at {name}',
  providerAdvice:
    'If this was not you, sign in with a code, and check the devices and the providers of your account.',

  // The name of a resource of every application, on the consent page.
  account: 'account',
}

export type Texts = Record<keyof typeof texts, string>
