import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: '謝謝您，{name}。已為您預訂 {guests, plural, other {# 個座位}}。',
  refused: '預訂不符合規則',
  nameBlank: '請輸入姓名。',
  guestsNotWhole: '請以整數填寫座位數。',
  guestsTooFew: '請至少預訂 {min, plural, other {# 個座位}}。',
  guestsTooMany: '請最多預訂 {max, plural, other {# 個座位}}。',
}

export const page: Page = {
  counter: '計數器',
  tasks: '工作',
  notes: '筆記',
  reservation: '預訂',

  introduction: 'Tallystick 保存一個共用計數器、您的工作，以及您與其他人分享的筆記。',
  introductionCallers: '程式和 AI 代理程式可以在您允許的範圍內使用計數器、您的工作和筆記。',
  introductionAccess: '您可以決定哪些應用程式能存取您的資料，並可隨時撤銷存取權。',
  openTasks: '未完成的工作',
  nothingOpen: '沒有未完成的工作。',
  nothingShared: '沒有人與您分享筆記。',
  recentAccess: '最近活動',
  increment: '增加',
  decrement: '減少',
  resetCounter: '重設計數器',
  newValue: '新的值',
  setCounter: '設定計數器',

  newTask: '新工作',
  addTask: '新增工作',
  filter: '顯示',
  allTasks: '全部',
  statusPending: '待辦',
  statusInProgress: '進行中',
  done: '已完成',
  taskCount: '{count, plural, other {# 項工作}}',
  noTasks: '您沒有工作。請在上方寫下第一項工作。',
  noMatchingTasks: '沒有處於此狀態的工作。',
  title: '標題',
  description: '說明',
  status: '狀態',
  tasksDeleted: '{count, plural, other {已刪除 # 項工作。}}',
  deleteAllTasks: '刪除所有工作',
  deleteAllTasksText: '您的所有工作將在您的所有裝置上永久刪除。',
  taskChangedElsewhere: '此工作已在別處變更。您要保留哪個版本？',
  taskDeletedElsewhere: '此工作已在別處刪除。您可以將您的版本另存為新工作。',
  saveAsNewTask: '另存為新工作',

  newNote: '新筆記',
  body: '內文',
  saveNote: '儲存筆記',
  saveAsNewNote: '另存為新筆記',
  noNotes: '您沒有筆記。',
  sharedWith: '{count, plural, =0 {未分享} other {已與 # 人分享}}',
  sharedToRead: '與您分享，可檢視',
  sharedToEdit: '與您分享，可編輯',
  share: '分享',
  reader: '檢視者',
  editor: '編輯者',
  shareNote: '分享筆記',
  shareExplanation:
    '檢視者可以檢視筆記，編輯者還可以變更筆記。沒有帳號的地址會在其擁有者首次登入時取得存取權。',
  deleteNote: '刪除筆記',
  deleteNoteText:
    '{count, plural, =0 {此筆記將永久刪除。} other {此筆記將永久刪除，與您分享此筆記的 # 人也將無法再檢視。}}',
  leaveNote: '離開筆記',
  leaveNoteText: '在作者再次與您分享之前，您將無法存取此筆記。',
  noteChangedElsewhere: '此筆記已在別處變更。您要保留哪個版本？',
  noteGone: '此筆記已遭刪除，或不再與您分享。您可以將您的文字另存為新筆記。',
  noteNotEditable: '您不能再變更此筆記。您可以將您的文字另存為新筆記。',

  scopeRead: '可檢視您的工作、筆記和帳戶',
  scopeWrite: '可新增、變更、分享和刪除您的工作和筆記',

  exportExplanation:
    '將您的工作、筆記、裝置、應用程式和活動記錄下載為 JSON 檔案。該檔案也會列出其他人與您分享的最新筆記。',
  deleteAccountExplanation:
    '這會刪除您的工作和筆記（包括您與其他人分享的筆記），並在所有裝置上登出。此操作無法復原。其他人的筆記仍會與您的地址分享。',

  reservationExplanation: '語言示範：不會儲存或預訂任何內容。',
  guestName: '姓名',
  guests: '人數',
  answerLanguage: '答覆的語言',
  reserve: '預訂',

  CONFLICT: '計數器已達到上限或下限。',
}
