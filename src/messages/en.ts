// The source of all translations, in ICU MessageFormat.

/** The texts of the server, besides the texts of every application in engine/messages/. */
export const server = {
  reserved: 'Thank you, {name}. {guests, plural, one {# seat is} other {# seats are}} reserved.',
  refused: 'The reservation breaks a rule',
  nameBlank: 'Please enter a name.',
  guestsNotWhole: 'Please enter a whole number of seats.',
  guestsTooFew: 'Please reserve at least {min, plural, one {# seat} other {# seats}}.',
  guestsTooMany: 'Please reserve at most {max, plural, one {# seat} other {# seats}}.',
}

/** The texts of the page at `/`. The files of all languages have these texts. */
export const page = {
  // Shell
  counter: 'Counter',
  tasks: 'Tasks',
  notes: 'Notes',
  reservation: 'Reservation',

  // Start page
  introduction: 'Tallystick keeps a shared counter, your tasks, and notes that you share with other people.',
  introductionCallers:
    'Programs and AI agents can use the counter, your tasks and your notes, as far as you allow.',
  introductionAccess:
    'You decide which apps have access to your data, and can revoke the access at any time.',
  openTasks: 'Open tasks',
  nothingOpen: 'Nothing is open.',
  nothingShared: 'Nobody shares a note with you.',
  recentAccess: 'Active recently',
  increment: 'Increment',
  decrement: 'Decrement',
  resetCounter: 'Reset counter',
  newValue: 'New value',
  setCounter: 'Set counter',

  // Tasks
  newTask: 'New task',
  addTask: 'Add task',
  filter: 'Show',
  allTasks: 'All',
  statusPending: 'Open',
  statusInProgress: 'In progress',
  done: 'Done',
  taskCount: '{count, plural, one {# task} other {# tasks}}',
  noTasks: 'You have no tasks. Write your first task above.',
  noMatchingTasks: 'No task has this status.',
  title: 'Title',
  description: 'Description',
  status: 'Status',
  tasksDeleted: '{count, plural, one {Task deleted.} other {# tasks deleted.}}',
  deleteAllTasks: 'Delete all tasks',
  deleteAllTasksText: 'All of your tasks are deleted permanently, on all of your devices.',
  taskChangedElsewhere: 'This task was changed elsewhere. Which version do you want to keep?',
  taskDeletedElsewhere: 'This task was deleted elsewhere. You can save your version as a new task.',
  saveAsNewTask: 'Save as a new task',

  // Notes
  newNote: 'New note',
  body: 'Body',
  saveNote: 'Save note',
  saveAsNewNote: 'Save as a new note',
  noNotes: 'You have no notes.',
  sharedWith: '{count, plural, =0 {Not shared} one {Shared with # person} other {Shared with # people}}',
  sharedToRead: 'Shared with you to read',
  sharedToEdit: 'Shared with you to edit',
  share: 'Share',
  reader: 'Reader',
  editor: 'Editor',
  shareNote: 'Share note',
  shareExplanation:
    'Readers see the note, and editors can also change the note. An address without an account gets access when its owner signs in for the first time.',
  deleteNote: 'Delete note',
  deleteNoteText:
    '{count, plural, =0 {The note is deleted permanently.} one {The note is deleted permanently, also for the person you share it with.} other {The note is deleted permanently, also for the # people you share it with.}}',
  leaveNote: 'Leave note',
  leaveNoteText: 'You lose access to the note, until its author shares the note with you again.',
  noteChangedElsewhere: 'This note was changed elsewhere. Which version do you want to keep?',
  noteGone: 'This note was deleted, or is no longer shared with you. You can save your text as a new note.',
  noteNotEditable: 'You can no longer change this note. You can save your text as a new note.',

  // Devices and apps
  scopeRead: 'Sees your tasks, notes and account',
  scopeWrite: 'Adds, changes, shares and deletes your tasks and notes',

  // Account
  exportExplanation:
    'Download your tasks, notes, devices, apps and activity as a JSON file. The file also lists the newest notes that other people share with you.',
  deleteAccountExplanation:
    'This deletes your tasks and notes, also the notes that you share with other people, and signs you out everywhere. This cannot be undone. Notes of other people stay shared with your address.',

  // Reservation
  reservationExplanation: 'A demonstration of languages: nothing is stored or booked.',
  guestName: 'Name',
  guests: 'Guests',
  answerLanguage: 'Language of the answer',
  reserve: 'Reserve',

  // Errors, by code
  CONFLICT: 'The counter is at its limit.',
}

export type Server = Record<keyof typeof server, string>

export type Page = Record<keyof typeof page, string>
