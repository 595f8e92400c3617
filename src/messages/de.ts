import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved: 'Vielen Dank, {name}. {guests, plural, one {# Platz ist} other {# Plätze sind}} reserviert.',
  refused: 'Die Reservierung verstößt gegen eine Regel',
  nameBlank: 'Bitte geben Sie einen Namen ein.',
  guestsNotWhole: 'Bitte geben Sie die Anzahl der Plätze als ganze Zahl ein.',
  guestsTooFew: 'Bitte reservieren Sie mindestens {min, plural, one {# Platz} other {# Plätze}}.',
  guestsTooMany: 'Bitte reservieren Sie höchstens {max, plural, one {# Platz} other {# Plätze}}.',
}

export const page: Page = {
  counter: 'Zähler',
  tasks: 'Aufgaben',
  notes: 'Notizen',
  reservation: 'Reservierung',

  introduction:
    'Tallystick führt einen gemeinsamen Zähler, Ihre Aufgaben und Notizen, die Sie mit anderen Personen teilen.',
  introductionCallers:
    'Programme und KI-Agenten können den Zähler, Ihre Aufgaben und Ihre Notizen nutzen, soweit Sie es erlauben.',
  introductionAccess:
    'Sie entscheiden, welche Apps Zugriff auf Ihre Daten haben, und können den Zugriff jederzeit widerrufen.',
  openTasks: 'Offene Aufgaben',
  nothingOpen: 'Nichts ist offen.',
  nothingShared: 'Niemand teilt eine Notiz mit Ihnen.',
  recentAccess: 'Zuletzt aktiv',
  increment: 'Erhöhen',
  decrement: 'Verringern',
  resetCounter: 'Zähler zurücksetzen',
  newValue: 'Neuer Wert',
  setCounter: 'Zähler setzen',

  newTask: 'Neue Aufgabe',
  addTask: 'Aufgabe hinzufügen',
  filter: 'Anzeigen',
  allTasks: 'Alle',
  statusPending: 'Offen',
  statusInProgress: 'In Arbeit',
  done: 'Erledigt',
  taskCount: '{count, plural, one {# Aufgabe} other {# Aufgaben}}',
  noTasks: 'Sie haben keine Aufgaben. Schreiben Sie oben Ihre erste Aufgabe.',
  noMatchingTasks: 'Keine Aufgabe hat diesen Status.',
  title: 'Titel',
  description: 'Beschreibung',
  status: 'Status',
  tasksDeleted: '{count, plural, one {Aufgabe gelöscht.} other {# Aufgaben gelöscht.}}',
  deleteAllTasks: 'Alle Aufgaben löschen',
  deleteAllTasksText: 'Alle Ihre Aufgaben werden endgültig gelöscht, auf allen Ihren Geräten.',
  taskChangedElsewhere: 'Diese Aufgabe wurde anderswo geändert. Welche Fassung möchten Sie behalten?',
  taskDeletedElsewhere:
    'Diese Aufgabe wurde anderswo gelöscht. Sie können Ihre Fassung als neue Aufgabe speichern.',
  saveAsNewTask: 'Als neue Aufgabe speichern',

  newNote: 'Neue Notiz',
  body: 'Text',
  saveNote: 'Notiz speichern',
  saveAsNewNote: 'Als neue Notiz speichern',
  noNotes: 'Sie haben keine Notizen.',
  sharedWith: '{count, plural, =0 {Nicht geteilt} one {Mit # Person geteilt} other {Mit # Personen geteilt}}',
  sharedToRead: 'Mit Ihnen geteilt, zum Lesen',
  sharedToEdit: 'Mit Ihnen geteilt, zum Bearbeiten',
  share: 'Teilen',
  reader: 'Lesen',
  editor: 'Bearbeiten',
  shareNote: 'Notiz teilen',
  shareExplanation:
    '„Lesen“ erlaubt, die Notiz zu sehen, „Bearbeiten“ auch, sie zu ändern. Eine Adresse ohne Konto erhält den Zugriff, sobald sich ihr Besitzer zum ersten Mal anmeldet.',
  deleteNote: 'Notiz löschen',
  deleteNoteText:
    '{count, plural, =0 {Die Notiz wird endgültig gelöscht.} one {Die Notiz wird endgültig gelöscht, auch für die Person, mit der Sie die Notiz teilen.} other {Die Notiz wird endgültig gelöscht, auch für die # Personen, mit denen Sie die Notiz teilen.}}',
  leaveNote: 'Notiz verlassen',
  leaveNoteText:
    'Sie verlieren den Zugriff auf die Notiz, bis die Person, die sie geschrieben hat, sie wieder mit Ihnen teilt.',
  noteChangedElsewhere: 'Diese Notiz wurde anderswo geändert. Welche Fassung möchten Sie behalten?',
  noteGone:
    'Diese Notiz wurde gelöscht oder ist nicht mehr mit Ihnen geteilt. Sie können Ihren Text als neue Notiz speichern.',
  noteNotEditable:
    'Sie können diese Notiz nicht mehr ändern. Sie können Ihren Text als neue Notiz speichern.',

  scopeRead: 'Sieht Ihre Aufgaben, Ihre Notizen und Ihr Konto',
  scopeWrite: 'Kann Ihre Aufgaben und Notizen hinzufügen, ändern, teilen und löschen',

  exportExplanation:
    'Laden Sie Ihre Aufgaben, Notizen, Geräte, Apps und Aktivitäten als JSON-Datei herunter. Die Datei nennt auch die neuesten Notizen, die andere Personen mit Ihnen teilen.',
  deleteAccountExplanation:
    'Das löscht Ihre Aufgaben und Notizen, auch die Notizen, die Sie mit anderen Personen teilen, und meldet Sie überall ab. Das kann nicht rückgängig gemacht werden. Notizen anderer Personen bleiben mit Ihrer Adresse geteilt.',

  reservationExplanation: 'Eine Demonstration der Sprachen: Nichts wird gespeichert oder gebucht.',
  guestName: 'Name',
  guests: 'Gäste',
  answerLanguage: 'Sprache der Antwort',
  reserve: 'Reservieren',

  CONFLICT: 'Der Zähler ist an seiner Grenze.',
}
