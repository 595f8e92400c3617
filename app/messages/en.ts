/** The source catalogue, in ICU MessageFormat. The catalogue of every other language has exactly these keys. */
export const catalogue = {
  // Shell
  counter: 'Counter',
  tasks: 'Tasks',
  notes: 'Notes',
  devices: 'Devices',
  account: 'Account',
  people: 'People',
  reservation: 'Reservation',
  home: 'Home',
  mainNavigation: 'Main',
  language: 'Language',
  theme: 'Theme',
  themeAuto: 'As the system',
  themeLight: 'Light',
  themeDark: 'Dark',
  signOut: 'Sign out',
  reference: 'API reference',
  document: 'OpenAPI document',
  skipToContent: 'Skip to the content',
  loading: 'Loading…',
  retry: 'Try again',
  cancel: 'Cancel',
  close: 'Close',
  notFound: 'There is no such page.',
  offline: 'You are offline. The page updates when the connection is back.',
  connecting: 'The connection is lost. Connecting again…',
  connected: 'Connected again.',
  signedOutElsewhere: 'Your session has ended. Sign in again to continue.',
  impersonation: 'You are using Tallystick as {email}.',
  stopImpersonation: 'Return to your own account',

  // Start page
  introduction: 'Tallystick keeps a shared counter, your tasks, and notes that you share with other people.',
  introductionCallers:
    'Programs and AI agents can do everything that this page can do, with the same permissions.',
  introductionAccess:
    'You decide which apps have access to your data, and can revoke the access at any time.',
  forAgents: 'AI agents connect to {address}.',
  increment: 'Increment',
  decrement: 'Decrement',
  resetCounter: 'Reset counter',
  newValue: 'New value',
  setCounter: 'Set counter',

  // Sign-in
  signInTitle: 'Sign in',
  email: 'E-mail',
  sendCode: 'Send code',
  codeSent: 'We sent a code to {email}.',
  codeInLog: 'This service runs in development: the code is in its log, and in a file in .data/outbox.',
  code: 'Code',
  signIn: 'Sign in',
  resendCode: 'Send another code',
  resendCodeIn: 'Send another code in {seconds, plural, one {# second} other {# seconds}}',
  changeEmail: 'Use another address',

  // Tasks

  // Notes

  // Devices and apps
  devicesExplanation: 'You are signed in on these devices. Revoke a device that you do not recognize.',
  thisDevice: 'This device',
  unknownDevice: 'Unknown browser',
  address: 'Address {address}',
  addressUnknown: 'Address unknown',
  lastActive: 'Active {age}',
  signedIn: 'Signed in {time}',
  revoke: 'Revoke',
  deviceRevoked: 'The device is signed out.',
  revokeOthers: 'Revoke all other devices',
  revokeOthersQuestion: 'Revoke all other devices?',
  revokeOthersExplanation: 'All devices except this one are signed out at once. Apps keep their access.',
  othersRevoked:
    '{count, plural, =0 {No other device was signed in.} one {# device is signed out.} other {# devices are signed out.}}',
  apps: 'Apps',
  appsExplanation: 'These apps have access to your data. Each app chose its name itself.',
  noApps: 'No app has access to your data. Apps and AI agents that you allow appear here.',
  scopeRead: 'Sees your tasks, notes and account',
  scopeWrite: 'Adds, changes, shares and deletes your tasks and notes',
  granted: 'Allowed {time}',
  expires: 'Until {time}',
  appRevoked: 'The app has no more access.',
  agentsTitle: 'Connect an AI agent',
  agentsExplanation:
    'Enter this address as an MCP server (HTTP) in your agent. The agent then opens your browser, where you sign in and allow the access.',
  agentConfiguration: 'For agents with a configuration file',
  copyAddress: 'Copy address',
  copyConfiguration: 'Copy configuration',
  copied: 'Copied.',
  notCopied: 'The browser does not allow copying. Select the text instead.',

  // Account
  profile: 'Profile',
  name: 'Name',
  nameExplanation: 'People with whom you share notes see your e-mail address, not your name.',
  nameTooLong: 'The name can have 120 characters at most.',
  saveName: 'Save name',
  nameSaved: 'Name saved.',
  ownersOnly: 'Only the owner of the account can export the data or delete the account.',
  exportTitle: 'Export your data',
  exportExplanation: 'Download your tasks, notes, devices, apps and activity as a JSON file.',
  exportData: 'Export data',
  exporting: 'Preparing the file…',
  exported: 'The file {file} is in your downloads.',
  deleteAccountTitle: 'Delete your account',
  deleteAccountExplanation:
    'This deletes your tasks and notes, also the notes that you share with other people, and signs you out everywhere. This cannot be undone.',
  deleteAccount: 'Delete account',
  deleteAccountQuestion: 'Delete your account?',
  confirmEmail: 'To confirm, type {email}',

  // People

  // Reservation
  reservationTitle: 'Reserve a table',
  reservationExplanation: 'A demonstration of languages: nothing is stored or booked.',
  guestName: 'Name',
  guests: 'Guests',
  answerLanguage: 'Language of the answer',
  reserve: 'Reserve',

  // Errors, by code
  BAD_REQUEST: 'Please check your input.',
  BANNED_USER: 'This account is blocked. Please contact the administrator of the service.',
  CONFLICT: 'The counter is at its limit.',
  FORBIDDEN: 'You do not have the permission to do this.',
  INTERNAL_SERVER_ERROR: 'Something went wrong. Please try again later.',
  INVALID_OTP: 'This code is not correct. Check the code in the newest e-mail.',
  NETWORK: 'The service does not answer. Check your connection, and try again.',
  NOT_FOUND: 'This no longer exists.',
  OTP_EXPIRED: 'This code has expired. Send another code.',
  SERVICE_UNAVAILABLE: 'The service does not answer at the moment. Please try again in a minute.',
  TOO_MANY_ATTEMPTS: 'Too many wrong codes. Send another code.',
  TOO_MANY_REQUESTS: 'Too many requests. Please try again later.',
  TOO_LARGE:
    'Your data is too large for one file. Programs can read the lists page by page: see the API reference.',
  UNAUTHORIZED: 'You are no longer signed in. Sign in again.',
  WRONG_ADDRESS: 'This is not the e-mail address of your account.',
}

export type Catalogue = Record<keyof typeof catalogue, string>
export type Message = keyof Catalogue
