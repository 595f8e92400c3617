import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Iniciar sesión',
  signInFor: '{app} solicita acceso a su cuenta. Inicie sesión para continuar.',
  signInCaution: 'La aplicación eligió su propio nombre. Inicie sesión solo si usted inició este proceso.',
  emailLabel: 'Su dirección de correo electrónico',
  sendCode: 'Enviarme un código',
  codeTitle: 'Introduzca el código',
  codeSent: 'Hemos enviado un código a {email}.',
  codeLabel: 'Seis dígitos',
  signIn: 'Iniciar sesión',
  sendAnotherCode: 'Enviar otro código',
  otherAddress: 'Usar otra dirección de correo electrónico',
  continueWith: 'Continuar con {provider}',

  consentTitle: '¿Autorizar a {app}?',
  consentRequest: '{app} solicita acceso a la cuenta {email}. Podrá:',
  read: 'ver sus datos: {resources}',
  write: 'añadir, modificar, compartir y eliminar sus datos: {resources}',
  destination: 'Se le enviará a',
  description: 'La aplicación está descrita por',
  website: 'el sitio web {host}',
  localProgram: 'un programa de este ordenador, en {host}',
  localApp: 'una aplicación de este dispositivo que abre enlaces {scheme}',
  consentCaution:
    'La aplicación eligió su propio nombre. Permita el acceso solo si usted inició este proceso y reconoce el destino.',
  redirectAddress: 'La dirección de redirección completa es {address}.',
  revocation: 'Puede revocar este acceso en cualquier momento en «Dispositivos».',
  allow: 'Permitir',
  deny: 'Denegar',
  unnamedApp: 'Una aplicación',

  deviceTitle: 'Conectar un dispositivo',
  signInForDevice:
    'Una aplicación en otro dispositivo solicita acceso a su cuenta. Inicie sesión para continuar.',
  deviceInstruction: 'Introduzca el código que la aplicación muestra en su dispositivo.',
  deviceCodeLabel: 'Ocho letras',
  continue: 'Continuar',
  deviceCode: 'La aplicación muestra el código',
  deviceCaution:
    'Permita el acceso solo si usted inició esta sesión y su dispositivo muestra exactamente este código.',
  deviceAllowed: '{app} ya tiene acceso. Vuelva a su dispositivo.',
  deviceDenied: '{app} no tiene acceso.',

  problemTitle: 'La solicitud ha fallado',
  BAD_REQUEST: 'La solicitud repite un parámetro o no se puede leer.',
  BANNED_USER: 'Esta cuenta está bloqueada. Póngase en contacto con el administrador del servicio.',
  FOREIGN_FORM: 'Otra página envió este formulario. Vuelva a empezar en la aplicación.',
  INTERNAL_SERVER_ERROR: 'Se ha producido un error. Inténtelo de nuevo más tarde.',
  INVALID_EMAIL: 'Esta dirección de correo electrónico no es válida. Por favor, compruébela.',
  INVALID_OTP:
    'Este código no es correcto. Compruebe los seis dígitos del correo más reciente o solicite otro código.',
  INVALID_REQUEST: 'La aplicación envió una solicitud no permitida: {details}',
  NOT_CONNECTED:
    'Su dirección ya tiene una cuenta. Inicie sesión con un código y, después, conecte el proveedor en su cuenta.',
  OTP_EXPIRED: 'Este código ha caducado. Solicite otro código.',
  PROVIDER_FAILED: 'No se completó el inicio de sesión en el proveedor. Inténtelo de nuevo o use un código.',
  SERVICE_UNAVAILABLE: 'El servicio no responde en este momento. Inténtelo de nuevo en un minuto.',
  TOO_MANY_ATTEMPTS:
    'Se han introducido demasiados códigos incorrectos y el código ya no es válido. Solicite otro código.',
  TOO_MANY_REQUESTS:
    'Ha habido demasiadas solicitudes. Inténtelo de nuevo en {minutes, plural, one {# minuto} many {# de minutos} other {# minutos}}.',
  UNAUTHORIZED: 'Su sesión ha terminado. Inicie sesión de nuevo.',
  UNKNOWN_APP: 'La aplicación que le envió aquí no es conocida o no lo es en esta dirección.',
  UNKNOWN_DEVICE_CODE:
    'Este código no es correcto o ha caducado. Compruebe las ocho letras o empiece de nuevo en su dispositivo.',
  UNVERIFIED_ADDRESS:
    'El proveedor no ha verificado su dirección de correo electrónico. Inicie sesión con un código.',
  letterSubject: '{code} es su código de inicio de sesión',
  letterCode: 'Su código de inicio de sesión es',
  letterUse: 'Úselo para iniciar sesión en {name}. Caduca en cinco minutos.',
  letterIgnore: 'Si no ha solicitado este código, ignore este correo electrónico.',
  providerConnected: '{provider} está ahora conectado a su cuenta en {name}',
  providerDisconnected: '{provider} ya no está conectado a su cuenta en {name}',
  providerAdvice:
    'Si no ha sido usted, inicie sesión con un código y revise los dispositivos y los proveedores de su cuenta.',

  account: 'cuenta',
}
