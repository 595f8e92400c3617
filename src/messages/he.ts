import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'תודה, {name}. {guests, plural, one {הוזמן מקום אחד} two {הוזמנו שני מקומות} other {הוזמנו # מקומות}}.',
  refused: 'ההזמנה מפרה את אחד הכללים',
  nameBlank: 'נא להזין שם.',
  guestsNotWhole: 'נא להזין מספר שלם של מקומות.',
  guestsTooFew: 'נא להזמין לפחות {min, plural, one {מקום אחד} two {שני מקומות} other {# מקומות}}.',
  guestsTooMany: 'נא להזמין לכל היותר {max, plural, one {מקום אחד} two {שני מקומות} other {# מקומות}}.',
}

export const page: Page = {
  counter: 'מונה',
  tasks: 'משימות',
  notes: 'פתקים',
  reservation: 'הזמנת מקום',

  introduction: 'Tallystick שומר מונה משותף, את המשימות שלך ופתקים שאפשר לשתף עם אנשים אחרים.',
  introductionCallers:
    'תוכנות וסוכני בינה מלאכותית יכולים להשתמש במונה, במשימות ובפתקים שלך, במידה שיש להם אישור ממך.',
  introductionAccess: 'ההחלטה לאילו יישומים יש גישה לנתונים שלך היא בידך, ואפשר לבטל את הגישה בכל עת.',
  openTasks: 'משימות פתוחות',
  nothingOpen: 'אין משימות פתוחות.',
  nothingShared: 'איש אינו משתף איתך פתק.',
  recentAccess: 'פעילים לאחרונה',
  increment: 'הגדלה',
  decrement: 'הקטנה',
  resetCounter: 'איפוס המונה',
  newValue: 'ערך חדש',
  setCounter: 'קביעת המונה',

  newTask: 'משימה חדשה',
  addTask: 'הוספת משימה',
  filter: 'הצגה',
  allTasks: 'הכול',
  statusPending: 'פתוחה',
  statusInProgress: 'בביצוע',
  done: 'בוצעה',
  taskCount: '{count, plural, one {משימה אחת} two {שתי משימות} other {# משימות}}',
  noTasks: 'אין לך משימות. אפשר לכתוב את המשימה הראשונה למעלה.',
  noMatchingTasks: 'אין משימה במצב הזה.',
  title: 'כותרת',
  description: 'תיאור',
  status: 'מצב',
  tasksDeleted: '{count, plural, one {המשימה נמחקה.} two {שתי משימות נמחקו.} other {# משימות נמחקו.}}',
  deleteAllTasks: 'מחיקת כל המשימות',
  deleteAllTasksText: 'כל המשימות שלך יימחקו לצמיתות, בכל המכשירים שלך.',
  taskChangedElsewhere: 'המשימה הזאת השתנתה במקום אחר. איזו גרסה לשמור?',
  taskDeletedElsewhere: 'המשימה הזאת נמחקה במקום אחר. אפשר לשמור את הגרסה שלך כמשימה חדשה.',
  saveAsNewTask: 'שמירה כמשימה חדשה',

  newNote: 'פתק חדש',
  body: 'תוכן',
  saveNote: 'שמירת הפתק',
  saveAsNewNote: 'שמירה כפתק חדש',
  noNotes: 'אין לך פתקים.',
  sharedWith:
    '{count, plural, =0 {לא משותף} one {משותף עם אדם אחד} two {משותף עם שני אנשים} other {משותף עם # אנשים}}',
  sharedToRead: 'משותף איתך לקריאה',
  sharedToEdit: 'משותף איתך לעריכה',
  share: 'שיתוף',
  reader: 'קריאה',
  editor: 'עריכה',
  shareNote: 'שיתוף הפתק',
  shareExplanation:
    'הרשאת קריאה מאפשרת לראות את הפתק, והרשאת עריכה מאפשרת גם לשנות אותו. כתובת בלי חשבון מקבלת גישה בכניסה הראשונה של בעליה.',
  deleteNote: 'מחיקת הפתק',
  deleteNoteText:
    '{count, plural, =0 {הפתק יימחק לצמיתות.} one {הפתק יימחק לצמיתות, גם אצל האדם שאיתו הוא משותף.} two {הפתק יימחק לצמיתות, גם אצל שני האנשים שאיתם הוא משותף.} other {הפתק יימחק לצמיתות, גם אצל # האנשים שאיתם הוא משותף.}}',
  leaveNote: 'עזיבת הפתק',
  leaveNoteText: 'הגישה שלך לפתק תיפסק, עד שמי שכתב אותו ישתף אותו איתך שוב.',
  noteChangedElsewhere: 'הפתק הזה השתנה במקום אחר. איזו גרסה לשמור?',
  noteGone: 'הפתק הזה נמחק, או שאינו משותף איתך עוד. אפשר לשמור את הטקסט שלך כפתק חדש.',
  noteNotEditable: 'אי אפשר עוד לשנות את הפתק הזה. אפשר לשמור את הטקסט שלך כפתק חדש.',

  scopeRead: 'רואה את המשימות, הפתקים והחשבון שלך',
  scopeWrite: 'מוסיף, משנה, משתף ומוחק את המשימות והפתקים שלך',

  exportExplanation:
    'הורדה של המשימות, הפתקים, המכשירים, היישומים והפעילות שלך כקובץ JSON. הקובץ מפרט גם את הפתקים החדשים ביותר שאנשים אחרים משתפים איתך.',
  deleteAccountExplanation:
    'הפעולה מוחקת את המשימות והפתקים שלך, גם פתקים שמשותפים עם אנשים אחרים, ומנתקת אותך בכל מקום. אי אפשר לבטל אותה. פתקים של אנשים אחרים נשארים משותפים עם הכתובת שלך.',

  reservationExplanation: 'הדגמה של שפות: דבר לא נשמר ולא מוזמן.',
  guestName: 'שם',
  guests: 'אורחים',
  answerLanguage: 'שפת התשובה',
  reserve: 'הזמנה',

  CONFLICT: 'המונה הגיע לגבול שלו.',
}
