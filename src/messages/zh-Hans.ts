import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: '谢谢您，{name}。已为您预订 {guests, plural, other {# 个座位}}。',
  refused: '预订不符合规则',
  nameBlank: '请输入姓名。',
  guestsNotWhole: '请以整数填写座位数。',
  guestsTooFew: '请至少预订 {min, plural, other {# 个座位}}。',
  guestsTooMany: '请最多预订 {max, plural, other {# 个座位}}。',
}

export const page: Page = {
  counter: '计数器',
  tasks: '任务',
  notes: '笔记',
  reservation: '预订',

  introduction: 'Tallystick 保存一个共享计数器、您的任务，以及您与他人共享的笔记。',
  introductionCallers: '程序和 AI 代理可以在您允许的范围内使用计数器、您的任务和笔记。',
  introductionAccess: '您可以决定哪些应用有权访问您的数据，并可随时撤销访问权限。',
  openTasks: '未完成的任务',
  nothingOpen: '没有未完成的任务。',
  nothingShared: '没有人与您共享笔记。',
  recentAccess: '最近活动',
  increment: '增加',
  decrement: '减少',
  resetCounter: '重置计数器',
  newValue: '新的值',
  setCounter: '设置计数器',

  newTask: '新任务',
  addTask: '添加任务',
  filter: '显示',
  allTasks: '全部',
  statusPending: '待办',
  statusInProgress: '进行中',
  done: '已完成',
  taskCount: '{count, plural, other {# 个任务}}',
  noTasks: '您没有任务。请在上方写下第一个任务。',
  noMatchingTasks: '没有处于此状态的任务。',
  title: '标题',
  description: '说明',
  status: '状态',
  tasksDeleted: '{count, plural, other {已删除 # 个任务。}}',
  deleteAllTasks: '删除所有任务',
  deleteAllTasksText: '您的所有任务将在您的所有设备上永久删除。',
  taskChangedElsewhere: '此任务已在别处更改。您要保留哪个版本？',
  taskDeletedElsewhere: '此任务已在别处删除。您可以将您的版本另存为新任务。',
  saveAsNewTask: '另存为新任务',

  newNote: '新笔记',
  body: '正文',
  saveNote: '保存笔记',
  saveAsNewNote: '另存为新笔记',
  noNotes: '您没有笔记。',
  sharedWith: '{count, plural, =0 {未共享} other {已与 # 人共享}}',
  sharedToRead: '与您共享，可查看',
  sharedToEdit: '与您共享，可编辑',
  share: '共享',
  reader: '查看者',
  editor: '编辑者',
  shareNote: '共享笔记',
  shareExplanation:
    '查看者可以查看笔记，编辑者还可以更改笔记。没有账户的地址在其所有者首次登录时获得访问权限。',
  deleteNote: '删除笔记',
  deleteNoteText:
    '{count, plural, =0 {该笔记将被永久删除。} other {该笔记将被永久删除，与您共享此笔记的 # 人也将无法再查看。}}',
  leaveNote: '退出笔记',
  leaveNoteText: '在作者再次与您共享之前，您将无法访问此笔记。',
  noteChangedElsewhere: '此笔记已在别处更改。您要保留哪个版本？',
  noteGone: '此笔记已被删除，或不再与您共享。您可以将您的文本另存为新笔记。',
  noteNotEditable: '您不能再更改此笔记。您可以将您的文本另存为新笔记。',

  scopeRead: '可查看您的任务、笔记和账户',
  scopeWrite: '可添加、更改、共享和删除您的任务和笔记',

  exportExplanation:
    '将您的任务、笔记、设备、应用和活动记录下载为 JSON 文件。该文件还列出其他人与您共享的最新笔记。',
  deleteAccountExplanation:
    '这将删除您的任务和笔记（包括您与他人共享的笔记），并在所有设备上退出登录。此操作无法撤消。其他人的笔记仍会与您的地址共享。',

  reservationExplanation: '语言演示：不会保存或预订任何内容。',
  guestName: '姓名',
  guests: '人数',
  answerLanguage: '答复的语言',
  reserve: '预订',

  CONFLICT: '计数器已达到上限或下限。',
}
