import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: 'እናመሰግናለን፣ {name}። {guests, plural, one {# መቀመጫ ተይዟል} other {# መቀመጫዎች ተይዘዋል}}።',
  refused: 'የቦታ ማስያዣው አንድ ደንብ ይጥሳል',
  nameBlank: 'እባክዎ ስም ያስገቡ።',
  guestsNotWhole: 'እባክዎ የመቀመጫዎችን ብዛት በሙሉ ቁጥር ያስገቡ።',
  guestsTooFew: 'እባክዎ ቢያንስ {min, plural, one {# መቀመጫ} other {# መቀመጫዎች}} ያስይዙ።',
  guestsTooMany: 'እባክዎ ቢበዛ {max, plural, one {# መቀመጫ} other {# መቀመጫዎች}} ያስይዙ።',
}

export const page: Page = {
  counter: 'ቆጣሪ',
  tasks: 'ተግባራት',
  notes: 'ማስታወሻዎች',
  reservation: 'ቦታ ማስያዣ',

  introduction: 'Tallystick የጋራ ቆጣሪ፣ ተግባራትዎን እና ከሌሎች ሰዎች ጋር የሚያጋሯቸውን ማስታወሻዎች ይይዛል።',
  introductionCallers: 'ፕሮግራሞች እና የAI ወኪሎች እርስዎ በሚፈቅዱት መጠን ቆጣሪውን፣ ተግባራትዎን እና ማስታወሻዎችዎን መጠቀም ይችላሉ።',
  introductionAccess: 'የትኞቹ መተግበሪያዎች ወደ ውሂብዎ መዳረሻ እንዳላቸው እርስዎ ይወስናሉ፤ መዳረሻውንም በማንኛውም ጊዜ መሻር ይችላሉ።',
  openTasks: 'ክፍት ተግባራት',
  nothingOpen: 'ክፍት የሆነ ነገር የለም።',
  nothingShared: 'ማንም ማስታወሻ አላጋራዎትም።',
  recentAccess: 'በቅርብ ጊዜ ንቁ',
  increment: 'ጨምር',
  decrement: 'ቀንስ',
  resetCounter: 'ቆጣሪውን ዳግም አስጀምር',
  newValue: 'አዲስ ዋጋ',
  setCounter: 'ቆጣሪውን አስተካክል',

  newTask: 'አዲስ ተግባር',
  addTask: 'ተግባር አክል',
  filter: 'አሳይ',
  allTasks: 'ሁሉም',
  statusPending: 'ክፍት',
  statusInProgress: 'በሂደት ላይ',
  done: 'ተጠናቋል',
  taskCount: '{count, plural, one {# ተግባር} other {# ተግባራት}}',
  noTasks: 'ምንም ተግባር የለዎትም። የመጀመሪያ ተግባርዎን ከላይ ይጻፉ።',
  noMatchingTasks: 'በዚህ ሁኔታ ላይ ያለ ተግባር የለም።',
  title: 'ርዕስ',
  description: 'መግለጫ',
  status: 'ሁኔታ',
  tasksDeleted: '{count, plural, one {# ተግባር ተሰርዟል።} other {# ተግባራት ተሰርዘዋል።}}',
  deleteAllTasks: 'ሁሉንም ተግባራት ሰርዝ',
  deleteAllTasksText: 'ሁሉም ተግባራትዎ በሁሉም መሣሪያዎችዎ ላይ በቋሚነት ይሰረዛሉ።',
  taskChangedElsewhere: 'ይህ ተግባር በሌላ ቦታ ተቀይሯል። የትኛውን ስሪት ማቆየት ይፈልጋሉ?',
  taskDeletedElsewhere: 'ይህ ተግባር በሌላ ቦታ ተሰርዟል። ስሪትዎን እንደ አዲስ ተግባር ማስቀመጥ ይችላሉ።',
  saveAsNewTask: 'እንደ አዲስ ተግባር አስቀምጥ',

  newNote: 'አዲስ ማስታወሻ',
  body: 'ጽሑፍ',
  saveNote: 'ማስታወሻውን አስቀምጥ',
  saveAsNewNote: 'እንደ አዲስ ማስታወሻ አስቀምጥ',
  noNotes: 'ምንም ማስታወሻ የለዎትም።',
  sharedWith: '{count, plural, =0 {አልተጋራም} one {ከ# ሰው ጋር ተጋርቷል} other {ከ# ሰዎች ጋር ተጋርቷል}}',
  sharedToRead: 'እንዲያነቡት ተጋርቶልዎታል',
  sharedToEdit: 'እንዲያርትዑት ተጋርቶልዎታል',
  share: 'አጋራ',
  reader: 'አንባቢ',
  editor: 'አርታዒ',
  shareNote: 'ማስታወሻውን አጋራ',
  shareExplanation: 'አንባቢዎች ማስታወሻውን ያያሉ፤ አርታዒዎች ደግሞ ሊቀይሩትም ይችላሉ። መለያ የሌለው አድራሻ ባለቤቱ ለመጀመሪያ ጊዜ ሲገባ መዳረሻ ያገኛል።',
  deleteNote: 'ማስታወሻውን ሰርዝ',
  deleteNoteText:
    '{count, plural, =0 {ማስታወሻው በቋሚነት ይሰረዛል።} one {ማስታወሻው በቋሚነት ይሰረዛል፤ ለሚያጋሩት # ሰውም ጭምር።} other {ማስታወሻው በቋሚነት ይሰረዛል፤ ለሚያጋሯቸው # ሰዎችም ጭምር።}}',
  leaveNote: 'ማስታወሻውን ተው',
  leaveNoteText: 'ጸሐፊው ማስታወሻውን እንደገና እስኪያጋራዎት ድረስ መዳረሻ ያጣሉ።',
  noteChangedElsewhere: 'ይህ ማስታወሻ በሌላ ቦታ ተቀይሯል። የትኛውን ስሪት ማቆየት ይፈልጋሉ?',
  noteGone: 'ይህ ማስታወሻ ተሰርዟል ወይም ከእንግዲህ ለእርስዎ አልተጋራም። ጽሑፍዎን እንደ አዲስ ማስታወሻ ማስቀመጥ ይችላሉ።',
  noteNotEditable: 'ይህን ማስታወሻ ከእንግዲህ መቀየር አይችሉም። ጽሑፍዎን እንደ አዲስ ማስታወሻ ማስቀመጥ ይችላሉ።',

  scopeRead: 'ተግባራትዎን፣ ማስታወሻዎችዎን እና መለያዎን ያያል',
  scopeWrite: 'ተግባራትዎን እና ማስታወሻዎችዎን ያክላል፣ ይቀይራል፣ ያጋራል እንዲሁም ይሰርዛል',

  exportExplanation:
    'ተግባራትዎን፣ ማስታወሻዎችዎን፣ መሣሪያዎችዎን፣ መተግበሪያዎችዎን እና እንቅስቃሴዎን እንደ JSON ፋይል ያውርዱ። ፋይሉ ሌሎች ሰዎች የሚያጋሩዎትን አዳዲስ ማስታወሻዎችም ይዘረዝራል።',
  deleteAccountExplanation:
    'ይህ ተግባራትዎን እና ማስታወሻዎችዎን፣ ከሌሎች ሰዎች ጋር የሚያጋሯቸውንም ጭምር፣ ይሰርዛል እንዲሁም ከሁሉም ቦታ ያስወጣዎታል። ይህ ሊቀለበስ አይችልም። የሌሎች ሰዎች ማስታወሻዎች ከአድራሻዎ ጋር እንደተጋሩ ይቆያሉ።',

  reservationExplanation: 'የቋንቋዎች ማሳያ፦ ምንም ነገር አይቀመጥም ወይም አይያዝም።',
  guestName: 'ስም',
  guests: 'እንግዶች',
  answerLanguage: 'የምላሹ ቋንቋ',
  reserve: 'ያዝ',

  CONFLICT: 'ቆጣሪው ገደቡ ላይ ደርሷል።',
}
