import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Entrar',
  signInFor: '{app} solicita acesso à sua conta. Entre para continuar.',
  signInCaution: 'O próprio aplicativo escolheu o nome dele. Entre somente se você iniciou este acesso.',
  emailLabel: 'Seu endereço de e-mail',
  sendCode: 'Enviar um código',
  codeTitle: 'Digite o código',
  codeSent: 'Enviamos um código para {email}.',
  codeLabel: 'Seis dígitos',
  signIn: 'Entrar',
  sendAnotherCode: 'Enviar outro código',
  otherAddress: 'Usar outro endereço de e-mail',
  continueWith: 'Continuar com {provider}',

  consentTitle: 'Autorizar {app}?',
  consentRequest: '{app} solicita acesso à conta {email}. O aplicativo poderá:',
  read: 'ver seus dados: {resources}',
  write: 'adicionar, alterar, compartilhar e excluir seus dados: {resources}',
  destination: 'Você será direcionado para',
  description: 'O aplicativo é descrito por',
  website: 'o site {host}',
  localProgram: 'um programa neste computador, em {host}',
  localApp: 'um aplicativo neste dispositivo que abre links {scheme}',
  consentCaution:
    'O próprio aplicativo escolheu o nome dele. Permita o acesso somente se você iniciou este acesso e reconhece o destino.',
  redirectAddress: 'O endereço completo de redirecionamento é {address}.',
  revocation: 'Você pode revogar este acesso a qualquer momento em “Dispositivos”.',
  allow: 'Permitir',
  deny: 'Negar',
  unnamedApp: 'Um aplicativo',

  deviceTitle: 'Conectar um dispositivo',
  signInForDevice: 'Um aplicativo em outro dispositivo solicita acesso à sua conta. Entre para continuar.',
  deviceInstruction: 'Digite o código que o aplicativo mostra no seu dispositivo.',
  deviceCodeLabel: 'Oito letras',
  continue: 'Continuar',
  deviceCode: 'O aplicativo mostra o código',
  deviceCaution:
    'Permita o acesso somente se você iniciou este acesso e o seu dispositivo mostra exatamente este código.',
  deviceAllowed: '{app} agora tem acesso. Volte ao seu dispositivo.',
  deviceDenied: '{app} não tem acesso.',

  problemTitle: 'A solicitação falhou',
  BAD_REQUEST: 'A solicitação repete um parâmetro ou não pode ser lida.',
  BANNED_USER: 'Esta conta está bloqueada. Entre em contato com o administrador do serviço.',
  FOREIGN_FORM: 'Outra página enviou este formulário. Comece de novo no aplicativo.',
  INTERNAL_SERVER_ERROR: 'Ocorreu um erro. Por favor, tente novamente mais tarde.',
  INVALID_EMAIL: 'Este endereço de e-mail não é válido. Por favor, verifique o endereço.',
  INVALID_OTP:
    'Este código não está correto. Verifique os seis dígitos no e-mail mais recente ou solicite outro código.',
  INVALID_REQUEST: 'O aplicativo enviou uma solicitação não permitida: {details}',
  NOT_CONNECTED:
    'Seu endereço já tem uma conta. Entre com um código e depois conecte o provedor na sua conta.',
  OTP_EXPIRED: 'Este código expirou. Solicite outro código.',
  PROVIDER_FAILED: 'A entrada no provedor não foi concluída. Tente novamente ou use um código.',
  SERVICE_UNAVAILABLE: 'O serviço não está respondendo no momento. Por favor, tente novamente em um minuto.',
  TOO_MANY_ATTEMPTS:
    'Foram digitados muitos códigos incorretos, e o código não é mais válido. Solicite outro código.',
  TOO_MANY_REQUESTS:
    'Houve solicitações demais. Por favor, tente novamente em {minutes, plural, one {# minuto} many {# de minutos} other {# minutos}}.',
  UNAUTHORIZED: 'Sua sessão terminou. Entre novamente.',
  UNKNOWN_APP: 'O aplicativo que direcionou você para cá não é conhecido ou não é conhecido neste endereço.',
  UNKNOWN_DEVICE_CODE:
    'Este código não está correto ou expirou. Confira as oito letras ou comece de novo no seu dispositivo.',
  UNVERIFIED_ADDRESS: 'O provedor não verificou seu endereço de e-mail. Entre com um código.',
  letterSubject: '{code} é o seu código de acesso',
  letterCode: 'Seu código de acesso é',
  letterUse: 'Use-o para entrar no {name}. Ele expira em cinco minutos.',
  letterIgnore: 'Se você não solicitou este código, ignore este e-mail.',
  providerConnected: '{provider} agora está conectado à sua conta em {name}',
  providerDisconnected: '{provider} não está mais conectado à sua conta em {name}',
  providerAdvice:
    'Se não foi você, entre com um código e verifique os dispositivos e os provedores da sua conta.',

  account: 'conta',
}
