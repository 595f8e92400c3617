import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Connexion',
  signInFor: '{app} demande l’accès à votre compte. Connectez-vous pour continuer.',
  signInCaution:
    'L’application a choisi elle-même son nom. Ne vous connectez que si vous avez lancé cette connexion.',
  emailLabel: 'Votre adresse e-mail',
  sendCode: 'Recevoir un code',
  codeTitle: 'Saisissez le code',
  codeSent: 'Nous avons envoyé un code à {email}.',
  codeLabel: 'Six chiffres',
  signIn: 'Se connecter',
  sendAnotherCode: 'Envoyer un autre code',
  otherAddress: 'Utiliser une autre adresse e-mail',
  continueWith: 'Continuer avec {provider}',

  consentTitle: 'Autoriser {app} ?',
  consentRequest: '{app} demande l’accès au compte {email}. L’application pourra :',
  read: 'consulter vos données : {resources}',
  write: 'ajouter, modifier, partager et supprimer vos données : {resources}',
  destination: 'Vous serez redirigé vers',
  description: 'L’application est décrite par',
  website: 'le site web {host}',
  localProgram: 'un programme sur cet ordinateur, à l’adresse {host}',
  localApp: 'une application sur cet appareil qui ouvre les liens {scheme}',
  consentCaution:
    'L’application a choisi elle-même son nom. N’autorisez l’accès que si vous avez lancé cette connexion et si vous reconnaissez la destination.',
  redirectAddress: 'L’adresse de redirection complète est {address}.',
  revocation: 'Vous pouvez révoquer cet accès à tout moment sous « Appareils ».',
  allow: 'Autoriser',
  deny: 'Refuser',
  unnamedApp: 'Une application',

  deviceTitle: 'Connecter un appareil',
  signInForDevice:
    'Une application sur un autre appareil demande l’accès à votre compte. Connectez-vous pour continuer.',
  deviceInstruction: 'Saisissez le code que l’application affiche sur votre appareil.',
  deviceCodeLabel: 'Huit lettres',
  continue: 'Continuer',
  deviceCode: 'L’application affiche le code',
  deviceCaution:
    'N’autorisez l’accès que si vous avez lancé cette connexion et que votre appareil affiche exactement ce code.',
  deviceAllowed: '{app} a maintenant accès. Revenez à votre appareil.',
  deviceDenied: '{app} n’a pas accès.',

  problemTitle: 'La demande a échoué',
  BAD_REQUEST: 'La demande répète un paramètre ou est illisible.',
  BANNED_USER: 'Ce compte est bloqué. Veuillez contacter l’administrateur du service.',
  FOREIGN_FORM: 'Une autre page a envoyé ce formulaire. Recommencez dans l’application.',
  INTERNAL_SERVER_ERROR: 'Une erreur s’est produite. Veuillez réessayer plus tard.',
  INVALID_EMAIL: 'Cette adresse e-mail n’est pas valide. Veuillez la vérifier.',
  INVALID_OTP:
    'Ce code n’est pas correct. Vérifiez les six chiffres dans l’e-mail le plus récent ou demandez un autre code.',
  INVALID_REQUEST: 'L’application a envoyé une demande non autorisée : {details}',
  NOT_CONNECTED:
    'Votre adresse a déjà un compte. Connectez-vous avec un code, puis associez le fournisseur dans votre compte.',
  OTP_EXPIRED: 'Ce code a expiré. Demandez un autre code.',
  PROVIDER_FAILED: 'La connexion chez le fournisseur n’a pas abouti. Réessayez, ou utilisez un code.',
  SERVICE_UNAVAILABLE: 'Le service ne répond pas pour le moment. Veuillez réessayer dans une minute.',
  TOO_MANY_ATTEMPTS:
    'Trop de codes erronés ont été saisis ; le code n’est plus valable. Demandez un autre code.',
  TOO_MANY_REQUESTS:
    'Il y a eu trop de demandes. Veuillez réessayer dans {minutes, plural, one {# minute} many {# de minutes} other {# minutes}}.',
  UNAUTHORIZED: 'Vous n’êtes plus connecté. Connectez-vous à nouveau.',
  UNKNOWN_APP: 'L’application qui vous a envoyé ici est inconnue, ou n’est pas enregistrée à cette adresse.',
  UNKNOWN_DEVICE_CODE:
    'Ce code n’est pas correct ou a expiré. Vérifiez les huit lettres, ou recommencez sur votre appareil.',
  UNVERIFIED_ADDRESS: 'Le fournisseur n’a pas vérifié votre adresse e-mail. Connectez-vous avec un code.',
  letterSubject: '{code} est votre code de connexion',
  letterCode: 'Votre code de connexion est',
  letterUse: 'Utilisez-le pour vous connecter à {name}. Il expire dans cinq minutes.',
  letterIgnore: 'Si vous n’avez pas demandé ce code, ignorez cet e-mail.',
  providerConnected: '{provider} est maintenant associé à votre compte sur {name}',
  providerDisconnected: '{provider} n’est plus associé à votre compte sur {name}',
  providerAdvice:
    'Si ce n’était pas vous, connectez-vous avec un code, et vérifiez les appareils et les fournisseurs de votre compte.',

  account: 'compte',
}
