import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: 'متشکریم، {name}. {guests, plural, one {# صندلی رزرو شد} other {# صندلی رزرو شد}}.',
  refused: 'این رزرو با یکی از قواعد مغایرت دارد',
  nameBlank: 'لطفاً نام را وارد کنید.',
  guestsNotWhole: 'لطفاً تعداد صندلی‌ها را به‌صورت عدد صحیح وارد کنید.',
  guestsTooFew: 'لطفاً حداقل {min, plural, one {# صندلی} other {# صندلی}} رزرو کنید.',
  guestsTooMany: 'لطفاً حداکثر {max, plural, one {# صندلی} other {# صندلی}} رزرو کنید.',
}

export const page: Page = {
  counter: 'شمارنده',
  tasks: 'کارها',
  notes: 'یادداشت‌ها',
  reservation: 'رزرو',

  introduction:
    'Tallystick یک شمارندهٔ مشترک، کارهای شما و یادداشت‌هایی را که با دیگران هم‌رسانی می‌کنید نگه می‌دارد.',
  introductionCallers:
    'برنامه‌ها و عامل‌های هوش مصنوعی می‌توانند تا جایی که شما اجازه می‌دهید از شمارنده، کارها و یادداشت‌های شما استفاده کنند.',
  introductionAccess:
    'شما تعیین می‌کنید کدام برنامه‌ها به داده‌هایتان دسترسی داشته باشند، و می‌توانید دسترسی را هر زمان لغو کنید.',
  openTasks: 'کارهای باز',
  nothingOpen: 'کار بازی نیست.',
  sharedWithYou: 'به اشتراک گذاشته با شما',
  nothingShared: 'کسی یادداشتی با شما به اشتراک نگذاشته است.',
  recentAccess: 'فعالیت اخیر',
  developers: 'برای توسعه‌دهندگان',
  agents: 'عامل‌های هوش مصنوعی',
  commandLine: 'خط فرمان',
  increment: 'افزایش',
  decrement: 'کاهش',
  resetCounter: 'صفر کردن شمارنده',
  newValue: 'مقدار جدید',
  setCounter: 'تنظیم شمارنده',

  newTask: 'کار جدید',
  addTask: 'افزودن کار',
  filter: 'نمایش',
  allTasks: 'همه',
  statusPending: 'باز',
  statusInProgress: 'در حال انجام',
  done: 'انجام‌شده',
  taskCount: '{count, plural, one {# کار} other {# کار}}',
  noTasks: 'هیچ کاری ندارید. نخستین کار خود را در بالا بنویسید.',
  noMatchingTasks: 'هیچ کاری این وضعیت را ندارد.',
  title: 'عنوان',
  description: 'توضیح',
  status: 'وضعیت',
  tasksDeleted: '{count, plural, one {# کار حذف شد.} other {# کار حذف شد.}}',
  deleteAllTasks: 'حذف همهٔ کارها',
  deleteAllTasksText: 'همهٔ کارهای شما برای همیشه از همهٔ دستگاه‌هایتان حذف می‌شوند.',
  taskChangedElsewhere: 'این کار در جای دیگری تغییر کرده است. کدام نسخه را نگه می‌دارید؟',
  taskDeletedElsewhere:
    'این کار در جای دیگری حذف شده است. می‌توانید نسخهٔ خود را به‌عنوان کار جدید ذخیره کنید.',
  saveAsNewTask: 'ذخیره به‌عنوان کار جدید',

  newNote: 'یادداشت جدید',
  body: 'متن',
  saveNote: 'ذخیرهٔ یادداشت',
  saveAsNewNote: 'ذخیره به‌عنوان یادداشت جدید',
  noNotes: 'هیچ یادداشتی ندارید.',
  sharedWith: '{count, plural, =0 {هم‌رسانی نشده} one {هم‌رسانی‌شده با # نفر} other {هم‌رسانی‌شده با # نفر}}',
  sharedToRead: 'هم‌رسانی‌شده با شما برای خواندن',
  sharedToEdit: 'هم‌رسانی‌شده با شما برای ویرایش',
  share: 'هم‌رسانی',
  shareWith: 'هم‌رسانی با',
  role: 'نقش',
  reader: 'خواننده',
  editor: 'ویرایشگر',
  shareNote: 'هم‌رسانی یادداشت',
  shareExplanation:
    'خوانندگان یادداشت را می‌بینند و ویرایشگران می‌توانند آن را تغییر هم بدهند. نشانی بدون حساب، با نخستین ورود صاحبش دسترسی می‌گیرد.',
  shared: 'با {email} هم‌رسانی شد.',
  peopleWithAccess: 'افراد دارای دسترسی',
  roleOf: 'نقش {email}',
  removeAccess: 'حذف دسترسی',
  roleChanged: 'نقش {email} تغییر کرد.',
  accessRemoved: '{email} دیگر دسترسی ندارد.',
  ownAddress: 'این نشانی خود شماست.',
  deleteNote: 'حذف یادداشت',
  deleteNoteText:
    '{count, plural, =0 {یادداشت برای همیشه حذف می‌شود.} one {یادداشت برای همیشه حذف می‌شود، برای # نفری هم که با او هم‌رسانی کرده‌اید.} other {یادداشت برای همیشه حذف می‌شود، برای # نفری هم که با آن‌ها هم‌رسانی کرده‌اید.}}',
  noteChangedElsewhere: 'این یادداشت در جای دیگری تغییر کرده است. کدام نسخه را نگه می‌دارید؟',
  noteGone:
    'این یادداشت حذف شده یا دیگر با شما هم‌رسانی نمی‌شود. می‌توانید متن خود را به‌عنوان یادداشت جدید ذخیره کنید.',
  noteNotEditable:
    'دیگر نمی‌توانید این یادداشت را تغییر دهید. می‌توانید متن خود را به‌عنوان یادداشت جدید ذخیره کنید.',

  scopeRead: 'کارها، یادداشت‌ها و حساب شما را می‌بیند',
  scopeWrite: 'کارها و یادداشت‌های شما را اضافه می‌کند، تغییر می‌دهد، هم‌رسانی می‌کند و حذف می‌کند',

  exportExplanation:
    'کارها، یادداشت‌ها، دستگاه‌ها، برنامه‌ها و فعالیت‌های خود را در یک فایل JSON بارگیری کنید.',
  deleteAccountExplanation:
    'با این کار، کارها و یادداشت‌های شما، از جمله یادداشت‌هایی که با دیگران هم‌رسانی می‌کنید، حذف می‌شوند و همه‌جا خارج می‌شوید. این کار برگشت‌پذیر نیست.',

  reservationTitle: 'رزرو میز',
  reservationExplanation: 'نمایش زبان‌ها: چیزی ذخیره یا رزرو نمی‌شود.',
  guestName: 'نام',
  guests: 'تعداد مهمانان',
  answerLanguage: 'زبان پاسخ',
  reserve: 'رزرو کنید',

  CONFLICT: 'شمارنده به حد خود رسیده است.',
}
