import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'Dziękujemy, {name}. Zarezerwowano {guests, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
  refused: 'Rezerwacja narusza jedną z zasad',
  nameBlank: 'Proszę podać imię.',
  guestsNotWhole: 'Proszę podać liczbę miejsc jako liczbę całkowitą.',
  guestsTooFew:
    'Proszę zarezerwować co najmniej {min, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
  guestsTooMany:
    'Proszę zarezerwować co najwyżej {max, plural, one {# miejsce} few {# miejsca} many {# miejsc} other {# miejsca}}.',
}

export const page: Page = {
  counter: 'Licznik',
  tasks: 'Zadania',
  notes: 'Notatki',
  reservation: 'Rezerwacja',

  introduction:
    'Tallystick prowadzi wspólny licznik, Państwa zadania oraz notatki udostępniane innym osobom.',
  introductionCallers:
    'Programy i agenci AI mogą używać licznika, zadań i notatek w zakresie, na jaki Państwo pozwolą.',
  introductionAccess:
    'To Państwo decydują, które aplikacje mają dostęp do Państwa danych. Dostęp można w każdej chwili cofnąć.',
  openTasks: 'Otwarte zadania',
  nothingOpen: 'Nic nie jest otwarte.',
  nothingShared: 'Nikt nie udostępnia Ci notatki.',
  recentAccess: 'Ostatnio aktywne',
  increment: 'Zwiększ',
  decrement: 'Zmniejsz',
  resetCounter: 'Wyzeruj licznik',
  newValue: 'Nowa wartość',
  setCounter: 'Ustaw licznik',

  newTask: 'Nowe zadanie',
  addTask: 'Dodaj zadanie',
  filter: 'Pokaż',
  allTasks: 'Wszystkie',
  statusPending: 'Otwarte',
  statusInProgress: 'W toku',
  done: 'Zrobione',
  taskCount: '{count, plural, one {# zadanie} few {# zadania} many {# zadań} other {# zadania}}',
  noTasks: 'Nie ma żadnych zadań. Pierwsze zadanie można wpisać powyżej.',
  noMatchingTasks: 'Żadne zadanie nie ma tego statusu.',
  title: 'Tytuł',
  description: 'Opis',
  status: 'Stan',
  tasksDeleted:
    '{count, plural, one {Zadanie usunięte.} few {# zadania usunięte.} many {# zadań usuniętych.} other {# zadania usuniętego.}}',
  deleteAllTasks: 'Usuń wszystkie zadania',
  deleteAllTasksText: 'Wszystkie Państwa zadania zostaną trwale usunięte na wszystkich urządzeniach.',
  taskChangedElsewhere: 'To zadanie zostało zmienione w innym miejscu. Którą wersję zachować?',
  taskDeletedElsewhere:
    'To zadanie zostało usunięte w innym miejscu. Można zapisać swoją wersję jako nowe zadanie.',
  saveAsNewTask: 'Zapisz jako nowe zadanie',

  newNote: 'Nowa notatka',
  body: 'Treść',
  saveNote: 'Zapisz notatkę',
  saveAsNewNote: 'Zapisz jako nową notatkę',
  noNotes: 'Nie ma żadnych notatek.',
  sharedWith:
    '{count, plural, =0 {Nieudostępniona} one {Udostępniona # osobie} few {Udostępniona # osobom} many {Udostępniona # osobom} other {Udostępniona # osoby}}',
  sharedToRead: 'Udostępniona Państwu do odczytu',
  sharedToEdit: 'Udostępniona Państwu do edycji',
  share: 'Udostępnij',
  reader: 'Odczyt',
  editor: 'Edycja',
  shareNote: 'Udostępnij notatkę',
  shareExplanation:
    'Odczyt pozwala widzieć notatkę, a edycja także ją zmieniać. Adres bez konta otrzymuje dostęp, gdy jego właściciel zaloguje się po raz pierwszy.',
  deleteNote: 'Usuń notatkę',
  deleteNoteText:
    '{count, plural, =0 {Notatka zostanie trwale usunięta.} one {Notatka zostanie trwale usunięta, także dla osoby, której jest udostępniona.} few {Notatka zostanie trwale usunięta, także dla # osób, którym jest udostępniona.} many {Notatka zostanie trwale usunięta, także dla # osób, którym jest udostępniona.} other {Notatka zostanie trwale usunięta, także dla # osoby, którym jest udostępniona.}}',
  leaveNote: 'Opuść notatkę',
  leaveNoteText: 'Dostęp do notatki wygaśnie, dopóki jej autor nie udostępni jej ponownie.',
  noteChangedElsewhere: 'Ta notatka została zmieniona w innym miejscu. Którą wersję zachować?',
  noteGone:
    'Ta notatka została usunięta lub nie jest już Państwu udostępniona. Można zapisać swój tekst jako nową notatkę.',
  noteNotEditable: 'Tej notatki nie można już zmieniać. Można zapisać swój tekst jako nową notatkę.',

  scopeRead: 'Widzi Państwa zadania, notatki i konto',
  scopeWrite: 'Dodaje, zmienia, udostępnia i usuwa Państwa zadania i notatki',

  exportExplanation:
    'Tutaj można pobrać zadania, notatki, urządzenia, aplikacje i aktywność jako plik JSON. Plik zawiera też listę najnowszych notatek udostępnionych Państwu przez inne osoby.',
  deleteAccountExplanation:
    'Zadania i notatki zostaną usunięte, także notatki udostępnione innym osobom, i nastąpi wylogowanie na wszystkich urządzeniach. Tego nie można cofnąć. Notatki innych osób pozostaną udostępnione Państwa adresowi.',

  reservationExplanation: 'Demonstracja języków: nic nie jest zapisywane ani rezerwowane.',
  guestName: 'Imię',
  guests: 'Liczba gości',
  answerLanguage: 'Język odpowiedzi',
  reserve: 'Zarezerwuj',

  CONFLICT: 'Licznik osiągnął swoją granicę.',
}
