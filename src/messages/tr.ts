import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: 'Teşekkür ederiz, {name}. {guests, plural, one {# yer} other {# yer}} ayrıldı.',
  refused: 'Rezervasyon bir kurala aykırı',
  nameBlank: 'Lütfen bir ad girin.',
  guestsNotWhole: 'Lütfen yer sayısını tam sayı olarak girin.',
  guestsTooFew: 'Lütfen en az {min, plural, one {# yer} other {# yer}} ayırtın.',
  guestsTooMany: 'Lütfen en fazla {max, plural, one {# yer} other {# yer}} ayırtın.',
}

export const page: Page = {
  counter: 'Sayaç',
  tasks: 'Görevler',
  notes: 'Notlar',
  reservation: 'Rezervasyon',

  introduction: 'Tallystick ortak bir sayacı, görevlerinizi ve başkalarıyla paylaştığınız notları tutar.',
  introductionCallers:
    'Programlar ve yapay zekâ ajanları, izin verdiğiniz ölçüde sayacı, görevlerinizi ve notlarınızı kullanabilir.',
  introductionAccess:
    'Hangi uygulamaların verilerinize erişebileceğine siz karar verirsiniz ve erişimi istediğiniz zaman iptal edebilirsiniz.',
  openTasks: 'Açık görevler',
  nothingOpen: 'Açık görev yok.',
  nothingShared: 'Kimse sizinle bir not paylaşmıyor.',
  recentAccess: 'Son etkinlik',
  increment: 'Artır',
  decrement: 'Azalt',
  resetCounter: 'Sayacı sıfırla',
  newValue: 'Yeni değer',
  setCounter: 'Sayacı ayarla',

  newTask: 'Yeni görev',
  addTask: 'Görev ekle',
  filter: 'Göster',
  allTasks: 'Tümü',
  statusPending: 'Bekliyor',
  statusInProgress: 'Devam ediyor',
  done: 'Tamamlandı',
  taskCount: '{count, plural, one {# görev} other {# görev}}',
  noTasks: 'Göreviniz yok. İlk görevinizi yukarıya yazın.',
  noMatchingTasks: 'Bu durumda görev yok.',
  title: 'Başlık',
  description: 'Açıklama',
  status: 'Durum',
  tasksDeleted: '{count, plural, one {Görev silindi.} other {# görev silindi.}}',
  deleteAllTasks: 'Tüm görevleri sil',
  deleteAllTasksText: 'Tüm görevleriniz, tüm cihazlarınızda kalıcı olarak silinir.',
  taskChangedElsewhere: 'Bu görev başka bir yerde değiştirildi. Hangi sürümü tutmak istiyorsunuz?',
  taskDeletedElsewhere:
    'Bu görev başka bir yerde silindi. Kendi sürümünüzü yeni görev olarak kaydedebilirsiniz.',
  saveAsNewTask: 'Yeni görev olarak kaydet',

  newNote: 'Yeni not',
  body: 'Metin',
  saveNote: 'Notu kaydet',
  saveAsNewNote: 'Yeni not olarak kaydet',
  noNotes: 'Notunuz yok.',
  sharedWith: '{count, plural, =0 {Paylaşılmadı} one {# kişiyle paylaşıldı} other {# kişiyle paylaşıldı}}',
  sharedToRead: 'Sizinle okumanız için paylaşıldı',
  sharedToEdit: 'Sizinle düzenlemeniz için paylaşıldı',
  share: 'Paylaş',
  reader: 'Okuyan',
  editor: 'Düzenleyen',
  shareNote: 'Notu paylaş',
  shareExplanation:
    'Okuyanlar notu görür, düzenleyenler notu değiştirebilir de. Hesabı olmayan bir adres, sahibi ilk kez oturum açtığında erişim kazanır.',
  deleteNote: 'Notu sil',
  deleteNoteText:
    '{count, plural, =0 {Not kalıcı olarak silinir.} one {Not, paylaştığınız # kişi için de kalıcı olarak silinir.} other {Not, paylaştığınız # kişi için de kalıcı olarak silinir.}}',
  leaveNote: 'Nottan ayrıl',
  leaveNoteText: 'Yazarı notu sizinle yeniden paylaşana kadar nota erişemezsiniz.',
  noteChangedElsewhere: 'Bu not başka bir yerde değiştirildi. Hangi sürümü tutmak istiyorsunuz?',
  noteGone: 'Bu not silindi ya da artık sizinle paylaşılmıyor. Metninizi yeni not olarak kaydedebilirsiniz.',
  noteNotEditable: 'Bu notu artık değiştiremezsiniz. Metninizi yeni not olarak kaydedebilirsiniz.',

  scopeRead: 'Görevlerinizi, notlarınızı ve hesabınızı görür',
  scopeWrite: 'Görev ve notlarınızı ekler, değiştirir, paylaşır ve siler',

  exportExplanation:
    'Görevlerinizi, notlarınızı, cihazlarınızı, uygulamalarınızı ve etkinliklerinizi JSON dosyası olarak indirin. Dosya, başkalarının sizinle paylaştığı en yeni notları da listeler.',
  deleteAccountExplanation:
    'Bu işlem görevlerinizi ve notlarınızı, başkalarıyla paylaştığınız notlar dahil siler ve her yerde oturumunuzu kapatır. Geri alınamaz. Başkalarının notları adresinizle paylaşılmaya devam eder.',

  reservationExplanation: 'Dillerin bir gösterimi: hiçbir şey saklanmaz ya da ayrılmaz.',
  guestName: 'Ad',
  guests: 'Konuk sayısı',
  answerLanguage: 'Yanıtın dili',
  reserve: 'Ayırt',

  CONFLICT: 'Sayaç sınırına ulaştı.',
}
