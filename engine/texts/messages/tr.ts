import type { Texts } from './en.ts'

export const texts: Texts = {
  signInTitle: 'Oturum açın',
  signInFor: '{app} hesabınıza erişim istiyor. Devam etmek için oturum açın.',
  signInCaution:
    'Uygulama adını kendisi seçti. Yalnızca bu oturum açma işlemini siz başlattıysanız oturum açın.',
  emailLabel: 'E-posta adresiniz',
  sendCode: 'Bana kod gönder',
  codeTitle: 'Kodu girin',
  codeSent: '{email} adresine bir kod gönderdik.',
  codeLabel: 'Altı rakam',
  signIn: 'Oturum aç',
  sendAnotherCode: 'Başka bir kod gönder',
  otherAddress: 'Farklı bir e-posta adresi kullan',
  continueWith: '{provider} ile devam et',

  consentTitle: '{app} uygulamasına izin verilsin mi?',
  consentRequest: '{app}, {email} hesabına erişim istiyor. Uygulama şunları yapabilecek:',
  read: 'verilerinizi görme: {resources}',
  write: 'verilerinizi ekleme, değiştirme, paylaşma ve silme: {resources}',
  destination: 'Yönlendirileceğiniz yer',
  description: 'Uygulamayı tanımlayan',
  website: '{host} web sitesi',
  localProgram: 'bu bilgisayardaki bir program ({host})',
  localApp: 'bu cihazda {scheme} bağlantılarını açan bir uygulama',
  consentCaution:
    'Uygulama adını kendisi seçti. Yalnızca bu oturum açma işlemini siz başlattıysanız ve hedefi tanıyorsanız izin verin.',
  redirectAddress: 'Tam yönlendirme adresi: {address}.',
  revocation: 'Bu erişimi “Cihazlar” bölümünden istediğiniz zaman iptal edebilirsiniz.',
  allow: 'İzin ver',
  deny: 'Reddet',
  unnamedApp: 'Bir uygulama',

  deviceTitle: 'Cihaz bağla',
  signInForDevice:
    'Başka bir cihazdaki bir uygulama hesabınıza erişim istiyor. Devam etmek için oturum açın.',
  deviceInstruction: 'Uygulamanın cihazınızda gösterdiği kodu girin.',
  deviceCodeLabel: 'Sekiz harf',
  continue: 'Devam et',
  deviceCode: 'Uygulamanın gösterdiği kod',
  deviceCaution:
    'Erişime yalnızca bu oturum açmayı siz başlattıysanız ve cihazınız tam olarak bu kodu gösteriyorsa izin verin.',
  deviceAllowed: '{app} artık erişebilir. Cihazınıza dönün.',
  deviceDenied: '{app} erişemiyor.',

  problemTitle: 'İstek başarısız oldu',
  BAD_REQUEST: 'İstekte bir parametre yineleniyor ya da istek okunamıyor.',
  BANNED_USER: 'Bu hesap engellendi. Lütfen hizmetin yöneticisine başvurun.',
  FOREIGN_FORM: 'Bu formu başka bir sayfa gönderdi. Uygulamada yeniden başlayın.',
  INTERNAL_SERVER_ERROR: 'Bir hata oluştu. Lütfen daha sonra yeniden deneyin.',
  INVALID_EMAIL: 'Bu geçerli bir e-posta adresi değil. Lütfen adresi kontrol edin.',
  INVALID_OTP: 'Bu kod doğru değil. En son e-postadaki altı rakamı kontrol edin ya da başka bir kod isteyin.',
  INVALID_REQUEST: 'Uygulama izin verilmeyen bir istek gönderdi: {details}',
  NOT_CONNECTED:
    'Adresinizin zaten bir hesabı var. Kodla oturum açın, sonra sağlayıcıyı hesabınıza bağlayın.',
  OTP_EXPIRED: 'Bu kodun süresi doldu. Başka bir kod isteyin.',
  PROVIDER_FAILED: 'Sağlayıcıdaki oturum açma işlemi tamamlanmadı. Yeniden deneyin ya da kod kullanın.',
  SERVICE_UNAVAILABLE: 'Hizmet şu anda yanıt vermiyor. Lütfen bir dakika sonra yeniden deneyin.',
  TOO_MANY_ATTEMPTS: 'Çok fazla yanlış kod girildiği için kod artık geçerli değil. Başka bir kod isteyin.',
  TOO_MANY_REQUESTS:
    'Çok fazla istek yapıldı. Lütfen {minutes, plural, one {# dakika} other {# dakika}} sonra yeniden deneyin.',
  UNAUTHORIZED: 'Oturumunuz sona erdi. Yeniden oturum açın.',
  UNKNOWN_APP: 'Sizi buraya yönlendiren uygulama bilinmiyor ya da bu adreste bilinmiyor.',
  UNKNOWN_DEVICE_CODE:
    'Bu kod doğru değil veya süresi doldu. Sekiz harfi kontrol edin ya da cihazınızda yeniden başlayın.',
  UNVERIFIED_ADDRESS: 'Sağlayıcı e-posta adresinizi doğrulamamış. Kodla oturum açın.',
  letterSubject: '{code} oturum açma kodunuzdur',
  letterCode: 'Oturum açma kodunuz:',
  letterUse: '{name}’te oturum açmak için bu kodu kullanın. Kodun süresi beş dakika içinde dolar.',
  letterIgnore: 'Bu kodu siz istemediyseniz bu e-postayı dikkate almayın.',
  providerConnected: '{provider} artık {name} hesabınıza bağlı',
  providerDisconnected: '{provider} artık {name} hesabınıza bağlı değil',
  providerAdvice:
    'Bunu siz yapmadıysanız kodla oturum açın ve hesabınızın cihazlarını ve sağlayıcılarını denetleyin.',

  account: 'hesap',
}
