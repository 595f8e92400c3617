import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: '{name}様、ありがとうございます。{guests, plural, other {#席}}のご予約を承りました。',
  refused: 'ご予約の内容が規則を満たしていません',
  nameBlank: 'お名前を入力してください。',
  guestsNotWhole: '席数は整数で入力してください。',
  guestsTooFew: '{min, plural, other {#席}}以上でご予約ください。',
  guestsTooMany: '{max, plural, other {#席}}以内でご予約ください。',
}

export const page: Page = {
  counter: 'カウンター',
  tasks: 'タスク',
  notes: 'メモ',
  reservation: '予約',

  introduction: 'Tallystick は、共有カウンター、お客様のタスク、ほかの人と共有するメモを管理します。',
  introductionCallers:
    'プログラムや AI エージェントは、お客様が許可した範囲で、カウンター、タスク、メモを利用できます。',
  introductionAccess:
    'データへのアクセスを許可するアプリはお客様が決められます。アクセスはいつでも取り消せます。',
  openTasks: '未完了のタスク',
  nothingOpen: '未完了のタスクはありません。',
  nothingShared: '共有されたメモはありません。',
  recentAccess: '最近の利用',
  increment: '増やす',
  decrement: '減らす',
  resetCounter: 'カウンターをリセット',
  newValue: '新しい値',
  setCounter: 'カウンターを設定',

  newTask: '新しいタスク',
  addTask: 'タスクを追加',
  filter: '表示',
  allTasks: 'すべて',
  statusPending: '未着手',
  statusInProgress: '進行中',
  done: '完了',
  taskCount: '{count, plural, other {#件のタスク}}',
  noTasks: 'タスクはありません。上の欄に最初のタスクを入力してください。',
  noMatchingTasks: 'この状態のタスクはありません。',
  title: 'タイトル',
  description: '説明',
  status: '状態',
  tasksDeleted: '{count, plural, other {#件のタスクを削除しました。}}',
  deleteAllTasks: 'すべてのタスクを削除',
  deleteAllTasksText: 'すべてのタスクが、すべてのデバイスから完全に削除されます。',
  taskChangedElsewhere: 'このタスクは別の場所で変更されました。どちらの版を残しますか？',
  taskDeletedElsewhere: 'このタスクは別の場所で削除されました。ご自分の版を新しいタスクとして保存できます。',
  saveAsNewTask: '新しいタスクとして保存',

  newNote: '新しいメモ',
  body: '本文',
  saveNote: 'メモを保存',
  saveAsNewNote: '新しいメモとして保存',
  noNotes: 'メモはありません。',
  sharedWith: '{count, plural, =0 {共有なし} other {#人と共有中}}',
  sharedToRead: '共有されたメモ（閲覧可）',
  sharedToEdit: '共有されたメモ（編集可）',
  share: '共有',
  reader: '閲覧者',
  editor: '編集者',
  shareNote: 'メモを共有',
  shareExplanation:
    '閲覧者はメモを見ることができ、編集者は変更もできます。アカウントのないアドレスには、所有者が初めてログインしたときにアクセス権が与えられます。',
  deleteNote: 'メモを削除',
  deleteNoteText:
    '{count, plural, =0 {メモは完全に削除されます。} other {メモは完全に削除されます。共有している#人も見られなくなります。}}',
  leaveNote: 'メモの共有から抜ける',
  leaveNoteText: '作成者がもう一度共有するまで、このメモにアクセスできなくなります。',
  noteChangedElsewhere: 'このメモは別の場所で変更されました。どちらの版を残しますか？',
  noteGone: 'このメモは削除されたか、共有が終了しました。入力したテキストを新しいメモとして保存できます。',
  noteNotEditable: 'このメモはもう変更できません。入力したテキストを新しいメモとして保存できます。',

  scopeRead: 'タスク、メモ、アカウントの表示',
  scopeWrite: 'タスクとメモの追加、変更、共有、削除',

  exportExplanation:
    'タスク、メモ、デバイス、アプリ、アクティビティを JSON ファイルとしてダウンロードします。ファイルには、ほかの人が共有している最新のメモの一覧も含まれます。',
  deleteAccountExplanation:
    'タスクとメモ（ほかの人と共有しているメモを含む）が削除され、すべての場所でサインアウトされます。この操作は元に戻せません。ほかの人のメモは、あなたのアドレスと共有されたままになります。',

  reservationExplanation: '言語のデモです。保存や予約は行われません。',
  guestName: 'お名前',
  guests: '人数',
  answerLanguage: '返答の言語',
  reserve: '予約する',

  CONFLICT: 'カウンターが限界に達しています。',
}
