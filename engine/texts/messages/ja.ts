import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'サインイン',
  signInFor: '{app} がお客様のアカウントへのアクセスを求めています。続けるにはサインインしてください。',
  signInCaution:
    'アプリの名前は、アプリ自身が付けたものです。ご自分で開始したサインインの場合にのみ、サインインしてください。',
  emailLabel: 'メールアドレス',
  sendCode: 'コードを送信',
  codeTitle: 'コードの入力',
  codeSent: '{email} にコードを送信しました。',
  codeLabel: '6桁の数字',
  signIn: 'サインイン',
  sendAnotherCode: '別のコードを送信',
  otherAddress: '別のメールアドレスを使う',
  continueWith: '{provider} で続ける',

  consentTitle: '{app} のアクセスを許可しますか？',
  consentRequest:
    '{app} がアカウント {email} へのアクセスを求めています。許可すると、アプリは次のことができます。',
  read: 'データの表示：{resources}',
  write: 'データの追加、変更、共有、削除：{resources}',
  destination: '移動先',
  description: 'アプリの説明の提供元',
  website: 'ウェブサイト {host}',
  localProgram: 'このコンピューター上のプログラム（{host}）',
  localApp: '{scheme} のリンクを開く、このデバイス上のアプリ',
  consentCaution:
    'アプリの名前は、アプリ自身が付けたものです。ご自分で開始したサインインで、移動先に心当たりがある場合にのみ、アクセスを許可してください。',
  redirectAddress: 'リダイレクト先の完全なアドレスは {address} です。',
  revocation: 'このアクセスは、「デバイス」からいつでも取り消せます。',
  allow: '許可',
  deny: '拒否',
  unnamedApp: 'アプリ',

  deviceTitle: 'デバイスの接続',
  signInForDevice:
    '別のデバイスのアプリがお客様のアカウントへのアクセスを求めています。続けるにはサインインしてください。',
  deviceInstruction: 'アプリがデバイスに表示しているコードを入力してください。',
  deviceCodeLabel: '英字 8 文字',
  continue: '続ける',
  deviceCode: 'アプリに表示されるコード',
  deviceCaution:
    'このサインインをご自身で開始し、デバイスにまったく同じコードが表示されている場合にのみ、アクセスを許可してください。',
  deviceAllowed: '{app} はアクセスできるようになりました。デバイスに戻ってください。',
  deviceDenied: '{app} はアクセスできません。',

  problemTitle: 'リクエストは失敗しました',
  BAD_REQUEST: 'リクエストのパラメーターが重複しているか、リクエストを読み取れません。',
  BANNED_USER: 'このアカウントは停止されています。サービスの管理者にお問い合わせください。',
  FOREIGN_FORM: 'このフォームは別のページから送信されました。アプリからやり直してください。',
  INTERNAL_SERVER_ERROR: '問題が発生しました。しばらくしてからもう一度お試しください。',
  INVALID_EMAIL: '有効なメールアドレスではありません。アドレスをご確認ください。',
  INVALID_OTP:
    'コードが正しくありません。最新のメールにある6桁の数字を確認するか、別のコードを送信してください。',
  INVALID_REQUEST: 'アプリが許可されていないリクエストを送信しました：{details}',
  NOT_CONNECTED:
    'このアドレスのアカウントはすでにあります。コードでサインインしてから、アカウントでプロバイダーを接続してください。',
  OTP_EXPIRED: 'コードの有効期限が切れています。別のコードを送信してください。',
  PROVIDER_FAILED:
    'プロバイダーでのサインインが完了しませんでした。もう一度お試しになるか、コードをご利用ください。',
  SERVICE_UNAVAILABLE: '現在、サービスが応答していません。1分後にもう一度お試しください。',
  TOO_MANY_ATTEMPTS:
    '誤ったコードが何度も入力されたため、コードは無効になりました。別のコードを送信してください。',
  TOO_MANY_REQUESTS: 'リクエストが多すぎます。{minutes, plural, other {#分}}後にもう一度お試しください。',
  UNAUTHORIZED: 'サインインの状態が終了しました。もう一度サインインしてください。',
  UNKNOWN_APP: '移動元のアプリは登録されていないか、このアドレスでは登録されていません。',
  UNKNOWN_DEVICE_CODE:
    'このコードは正しくないか、有効期限が切れています。8 文字を確認するか、デバイスでもう一度やり直してください。',
  UNVERIFIED_ADDRESS: 'プロバイダーがメールアドレスを確認していません。コードでサインインしてください。',
  letterSubject: '{code} はお客様のサインインコードです',
  letterCode: 'サインインコード：',
  letterUse: 'このコードを使って {name} にサインインしてください。コードの有効期限は5分です。',
  letterIgnore: 'このコードに心当たりがない場合は、このメールを無視してください。',
  providerConnected: '{provider} が {name} のアカウントに接続されました',
  providerDisconnected: '{provider} と {name} のアカウントの接続が解除されました',
  providerAdvice:
    'お心当たりがない場合は、コードでサインインし、アカウントのデバイスとプロバイダーを確認してください。',

  account: 'アカウント',
}
