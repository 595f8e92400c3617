import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: '{name} 님, 감사합니다. {guests, plural, other {#석}}이 예약되었습니다.',
  refused: '예약 내용이 규칙에 맞지 않습니다',
  nameBlank: '이름을 입력해 주세요.',
  guestsNotWhole: '좌석 수를 정수로 입력해 주세요.',
  guestsTooFew: '좌석은 {min, plural, other {#석}} 이상 예약해 주세요.',
  guestsTooMany: '좌석은 최대 {max, plural, other {#석}}까지만 예약해 주세요.',
}

export const page: Page = {
  counter: '카운터',
  tasks: '할 일',
  notes: '메모',
  reservation: '예약',

  introduction: 'Tallystick은 공유 카운터와 할 일, 다른 사람과 공유하는 메모를 관리합니다.',
  introductionCallers: '프로그램과 AI 에이전트는 허용한 범위에서 카운터, 할 일 및 메모를 사용할 수 있습니다.',
  introductionAccess: '데이터에 액세스할 앱은 직접 정하며, 액세스는 언제든지 취소할 수 있습니다.',
  openTasks: '열린 할 일',
  nothingOpen: '열린 할 일이 없습니다.',
  nothingShared: '나와 공유된 메모가 없습니다.',
  recentAccess: '최근 활동',
  increment: '늘리기',
  decrement: '줄이기',
  resetCounter: '카운터 초기화',
  newValue: '새 값',
  setCounter: '카운터 설정',

  newTask: '새 할 일',
  addTask: '할 일 추가',
  filter: '보기',
  allTasks: '모두',
  statusPending: '대기',
  statusInProgress: '진행 중',
  done: '완료',
  taskCount: '{count, plural, other {할 일 #개}}',
  noTasks: '할 일이 없습니다. 위에 첫 번째 할 일을 적어 주세요.',
  noMatchingTasks: '이 상태의 할 일이 없습니다.',
  title: '제목',
  description: '설명',
  status: '상태',
  tasksDeleted: '{count, plural, other {할 일 #개를 삭제했습니다.}}',
  deleteAllTasks: '할 일 모두 삭제',
  deleteAllTasksText: '모든 할 일이 모든 기기에서 영구적으로 삭제됩니다.',
  taskChangedElsewhere: '이 할 일이 다른 곳에서 변경되었습니다. 어느 버전을 유지하시겠습니까?',
  taskDeletedElsewhere: '이 할 일이 다른 곳에서 삭제되었습니다. 내 버전을 새 할 일로 저장할 수 있습니다.',
  saveAsNewTask: '새 할 일로 저장',

  newNote: '새 메모',
  body: '내용',
  saveNote: '메모 저장',
  saveAsNewNote: '새 메모로 저장',
  noNotes: '메모가 없습니다.',
  sharedWith: '{count, plural, =0 {공유 안 함} other {#명과 공유}}',
  sharedToRead: '공유받음(보기)',
  sharedToEdit: '공유받음(편집)',
  share: '공유',
  reader: '보기 권한',
  editor: '편집 권한',
  shareNote: '메모 공유',
  shareExplanation:
    '보기 권한으로는 메모를 볼 수 있고, 편집 권한으로는 변경도 할 수 있습니다. 계정이 없는 주소는 소유자가 처음 로그인할 때 액세스를 얻습니다.',
  deleteNote: '메모 삭제',
  deleteNoteText:
    '{count, plural, =0 {메모가 영구적으로 삭제됩니다.} other {메모가 영구적으로 삭제되며, 메모를 공유하는 #명에게서도 삭제됩니다.}}',
  leaveNote: '메모에서 나가기',
  leaveNoteText: '작성자가 다시 공유할 때까지 이 메모에 액세스할 수 없습니다.',
  noteChangedElsewhere: '이 메모가 다른 곳에서 변경되었습니다. 어느 버전을 유지하시겠습니까?',
  noteGone: '이 메모가 삭제되었거나 더 이상 공유되지 않습니다. 작성한 내용을 새 메모로 저장할 수 있습니다.',
  noteNotEditable: '이 메모를 더 이상 변경할 수 없습니다. 작성한 내용을 새 메모로 저장할 수 있습니다.',

  scopeRead: '할 일, 메모 및 계정 보기',
  scopeWrite: '할 일과 메모 추가, 변경, 공유 및 삭제',

  exportExplanation:
    '할 일, 메모, 기기, 앱, 활동을 JSON 파일로 다운로드합니다. 파일에는 다른 사람이 공유한 최신 메모의 목록도 포함됩니다.',
  deleteAccountExplanation:
    '할 일과 메모(다른 사람과 공유하는 메모 포함)가 삭제되고 모든 곳에서 로그아웃됩니다. 이 작업은 취소할 수 없습니다. 다른 사람의 메모는 본인의 주소와 계속 공유됩니다.',

  reservationExplanation: '언어 시연입니다. 아무것도 저장되거나 예약되지 않습니다.',
  guestName: '이름',
  guests: '인원',
  answerLanguage: '답변 언어',
  reserve: '예약하기',

  CONFLICT: '카운터가 한계에 도달했습니다.',
}
