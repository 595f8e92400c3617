import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'شكرًا لك، {name}. {guests, plural, zero {لم يتم حجز أي مقعد} one {تم حجز مقعد واحد} two {تم حجز مقعدين} few {تم حجز # مقاعد} many {تم حجز # مقعدًا} other {تم حجز # مقعد}}.',
  refused: 'الحجز يخالف إحدى القواعد',
  nameBlank: 'يُرجى إدخال الاسم.',
  guestsNotWhole: 'يُرجى إدخال عدد صحيح من المقاعد.',
  guestsTooFew:
    'يُرجى حجز {min, plural, zero {# مقعد} one {مقعد واحد} two {مقعدين} few {# مقاعد} many {# مقعدًا} other {# مقعد}} على الأقل.',
  guestsTooMany:
    'يُرجى حجز {max, plural, zero {# مقعد} one {مقعد واحد} two {مقعدين} few {# مقاعد} many {# مقعدًا} other {# مقعد}} على الأكثر.',
}

export const page: Page = {
  counter: 'العدّاد',
  tasks: 'المهام',
  notes: 'الملاحظات',
  reservation: 'الحجز',

  introduction: 'يحفظ Tallystick عدّادًا مشتركًا ومهامك والملاحظات التي تشاركها مع أشخاص آخرين.',
  introductionCallers:
    'تستطيع البرامج ووكلاء الذكاء الاصطناعي استخدام العداد ومهامك وملاحظاتك بالقدر الذي تسمح به.',
  introductionAccess: 'أنت تقرر أي التطبيقات يمكنها الوصول إلى بياناتك، ويمكنك إلغاء الوصول في أي وقت.',
  openTasks: 'المهام المفتوحة',
  nothingOpen: 'لا توجد مهام مفتوحة.',
  sharedWithYou: 'تمت مشاركتها معك',
  nothingShared: 'لا أحد يشارك ملاحظة معك.',
  recentAccess: 'نشط مؤخرًا',
  developers: 'للمطورين',
  agents: 'وكلاء الذكاء الاصطناعي',
  commandLine: 'سطر الأوامر',
  increment: 'زيادة',
  decrement: 'إنقاص',
  resetCounter: 'تصفير العدّاد',
  newValue: 'القيمة الجديدة',
  setCounter: 'ضبط العدّاد',

  newTask: 'مهمة جديدة',
  addTask: 'إضافة مهمة',
  filter: 'عرض',
  allTasks: 'الكل',
  statusPending: 'مفتوحة',
  statusInProgress: 'قيد التنفيذ',
  done: 'منجزة',
  taskCount:
    '{count, plural, zero {لا مهام} one {مهمة واحدة} two {مهمتان} few {# مهام} many {# مهمة} other {# مهمة}}',
  noTasks: 'ليس لديك مهام. اكتب مهمتك الأولى في الأعلى.',
  noMatchingTasks: 'لا توجد مهمة بهذه الحالة.',
  title: 'العنوان',
  description: 'الوصف',
  status: 'الحالة',
  tasksDeleted:
    '{count, plural, zero {لم تُحذف أي مهمة.} one {حُذفت المهمة.} two {حُذفت مهمتان.} few {حُذفت # مهام.} many {حُذفت # مهمة.} other {حُذفت # مهمة.}}',
  deleteAllTasks: 'حذف كل المهام',
  deleteAllTasksText: 'ستُحذف كل مهامك نهائيًا من كل أجهزتك.',
  taskChangedElsewhere: 'تغيّرت هذه المهمة في مكان آخر. أي نسخة تريد الاحتفاظ بها؟',
  taskDeletedElsewhere: 'حُذفت هذه المهمة في مكان آخر. يمكنك حفظ نسختك كمهمة جديدة.',
  saveAsNewTask: 'حفظ كمهمة جديدة',

  newNote: 'ملاحظة جديدة',
  body: 'النص',
  saveNote: 'حفظ الملاحظة',
  saveAsNewNote: 'حفظ كملاحظة جديدة',
  noNotes: 'ليس لديك ملاحظات.',
  sharedWith:
    '{count, plural, =0 {غير مشتركة} zero {غير مشتركة} one {مشتركة مع شخص واحد} two {مشتركة مع شخصين} few {مشتركة مع # أشخاص} many {مشتركة مع # شخصًا} other {مشتركة مع # شخص}}',
  sharedToRead: 'مشتركة معك للقراءة',
  sharedToEdit: 'مشتركة معك للتعديل',
  share: 'مشاركة',
  shareWith: 'مشاركة مع',
  role: 'الدور',
  reader: 'قارئ',
  editor: 'محرّر',
  shareNote: 'مشاركة الملاحظة',
  shareExplanation:
    'يرى القرّاء الملاحظة، ويستطيع المحرّرون تغييرها أيضًا. إذا لم يكن للعنوان حساب، يبدأ الوصول عند أول تسجيل دخول لصاحبه.',
  shared: 'تمت المشاركة مع {email}.',
  peopleWithAccess: 'الأشخاص الذين لديهم حق الوصول',
  roleOf: 'دور {email}',
  removeAccess: 'إزالة الوصول',
  roleChanged: 'تم تغيير دور {email}.',
  accessRemoved: 'لم يعد لدى {email} حق الوصول.',
  ownAddress: 'هذا عنوانك أنت.',
  deleteNote: 'حذف الملاحظة',
  deleteNoteText:
    '{count, plural, =0 {ستُحذف الملاحظة نهائيًا.} zero {ستُحذف الملاحظة نهائيًا.} one {ستُحذف الملاحظة نهائيًا، ولن يراها أيضًا الشخص الذي تشاركها معه.} two {ستُحذف الملاحظة نهائيًا، ولن يراها أيضًا الشخصان اللذان تشاركها معهما.} few {ستُحذف الملاحظة نهائيًا، أيضًا لدى # أشخاص تشاركها معهم.} many {ستُحذف الملاحظة نهائيًا، أيضًا لدى # شخصًا تشاركها معهم.} other {ستُحذف الملاحظة نهائيًا، أيضًا لدى # شخص تشاركها معهم.}}',
  leaveNote: 'مغادرة الملاحظة',
  leaveNoteText: 'ستفقد الوصول إلى الملاحظة حتى يشاركها صاحبها معك مرة أخرى.',
  noteChangedElsewhere: 'تغيّرت هذه الملاحظة في مكان آخر. أي نسخة تريد الاحتفاظ بها؟',
  noteGone: 'حُذفت هذه الملاحظة أو لم تعد مشتركة معك. يمكنك حفظ نصك كملاحظة جديدة.',
  noteNotEditable: 'لم يعد بإمكانك تغيير هذه الملاحظة. يمكنك حفظ نصك كملاحظة جديدة.',

  scopeRead: 'يرى مهامك وملاحظاتك وحسابك',
  scopeWrite: 'يضيف مهامك وملاحظاتك ويغيّرها ويشاركها ويحذفها',

  exportExplanation:
    'نزّل مهامك وملاحظاتك وأجهزتك وتطبيقاتك ونشاطك كملف JSON. يسرد الملف أيضًا أحدث الملاحظات التي يشاركها أشخاص آخرون معك.',
  deleteAccountExplanation:
    'يؤدي هذا إلى حذف مهامك وملاحظاتك، ومنها الملاحظات التي تشاركها مع أشخاص آخرين، وتسجيل خروجك من كل مكان. لا يمكن التراجع عن ذلك. تبقى ملاحظات الأشخاص الآخرين مشتركة مع عنوانك.',

  reservationExplanation: 'عرض توضيحي للغات: لا يُحفظ شيء ولا يُحجز.',
  guestName: 'الاسم',
  guests: 'عدد الضيوف',
  answerLanguage: 'لغة الرد',
  reserve: 'احجز',

  CONFLICT: 'بلغ العدّاد حدّه.',
}
