import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'Grazie, {name}. {guests, plural, one {È stato prenotato # posto} many {Sono stati prenotati # di posti} other {Sono stati prenotati # posti}}.',
  refused: 'La prenotazione viola una regola',
  nameBlank: 'Si prega di inserire un nome.',
  guestsNotWhole: 'Si prega di inserire un numero intero di posti.',
  guestsTooFew:
    'Si prega di prenotare almeno {min, plural, one {# posto} many {# di posti} other {# posti}}.',
  guestsTooMany:
    'Si prega di prenotare al massimo {max, plural, one {# posto} many {# di posti} other {# posti}}.',
}

export const page: Page = {
  counter: 'Contatore',
  tasks: 'Attività',
  notes: 'Note',
  reservation: 'Prenotazione',

  introduction:
    'Tallystick tiene un contatore condiviso, le Sue attività e le note che condivide con altre persone.',
  introductionCallers:
    'I programmi e gli agenti IA possono usare il contatore, le Sue attività e le Sue note, nella misura in cui Lei lo consente.',
  introductionAccess:
    'È Lei a decidere quali app hanno accesso ai Suoi dati e può revocare l’accesso in qualsiasi momento.',
  openTasks: 'Attività aperte',
  nothingOpen: 'Niente è aperto.',
  nothingShared: 'Nessuno condivide una nota con lei.',
  recentAccess: 'Attivi di recente',
  increment: 'Aumenta',
  decrement: 'Diminuisci',
  resetCounter: 'Azzera contatore',
  newValue: 'Nuovo valore',
  setCounter: 'Imposta contatore',

  newTask: 'Nuova attività',
  addTask: 'Aggiungi attività',
  filter: 'Mostra',
  allTasks: 'Tutte',
  statusPending: 'Da fare',
  statusInProgress: 'In corso',
  done: 'Completata',
  taskCount: '{count, plural, one {# attività} many {# di attività} other {# attività}}',
  noTasks: 'Non ha attività. Scriva qui sopra la Sua prima attività.',
  noMatchingTasks: 'Nessuna attività ha questo stato.',
  title: 'Titolo',
  description: 'Descrizione',
  status: 'Stato',
  tasksDeleted:
    '{count, plural, one {Attività eliminata.} many {# di attività eliminate.} other {# attività eliminate.}}',
  deleteAllTasks: 'Elimina tutte le attività',
  deleteAllTasksText:
    'Tutte le Sue attività verranno eliminate definitivamente, su tutti i Suoi dispositivi.',
  taskChangedElsewhere: 'Questa attività è stata modificata altrove. Quale versione vuole tenere?',
  taskDeletedElsewhere:
    'Questa attività è stata eliminata altrove. Può salvare la Sua versione come nuova attività.',
  saveAsNewTask: 'Salva come nuova attività',

  newNote: 'Nuova nota',
  body: 'Testo',
  saveNote: 'Salva nota',
  saveAsNewNote: 'Salva come nuova nota',
  noNotes: 'Non ha note.',
  sharedWith:
    '{count, plural, =0 {Non condivisa} one {Condivisa con # persona} many {Condivisa con # di persone} other {Condivisa con # persone}}',
  sharedToRead: 'Condivisa con Lei per la lettura',
  sharedToEdit: 'Condivisa con Lei per la modifica',
  share: 'Condividi',
  reader: 'Lettura',
  editor: 'Modifica',
  shareNote: 'Condividi nota',
  shareExplanation:
    'La lettura permette di vedere la nota, la modifica permette anche di cambiarla. Un indirizzo senza account ottiene l’accesso al primo accesso del suo titolare.',
  deleteNote: 'Elimina nota',
  deleteNoteText:
    '{count, plural, =0 {La nota verrà eliminata definitivamente.} one {La nota verrà eliminata definitivamente, anche per la persona con cui la condivide.} many {La nota verrà eliminata definitivamente, anche per i # di persone con cui la condivide.} other {La nota verrà eliminata definitivamente, anche per le # persone con cui la condivide.}}',
  leaveNote: 'Abbandona nota',
  leaveNoteText: 'Perderà l’accesso alla nota, finché l’autore non la condividerà di nuovo con Lei.',
  noteChangedElsewhere: 'Questa nota è stata modificata altrove. Quale versione vuole tenere?',
  noteGone:
    'Questa nota è stata eliminata o non è più condivisa con Lei. Può salvare il Suo testo come nuova nota.',
  noteNotEditable: 'Non può più modificare questa nota. Può salvare il Suo testo come nuova nota.',

  scopeRead: 'Vede le Sue attività, le Sue note e il Suo account',
  scopeWrite: 'Aggiunge, modifica, condivide ed elimina le Sue attività e note',

  exportExplanation:
    'Scarichi le Sue attività, note, app, i Suoi dispositivi e le operazioni registrate come file JSON. Il file elenca anche le note più recenti che altre persone condividono con Lei.',
  deleteAccountExplanation:
    'Questa operazione elimina le Sue attività e note, anche le note che condivide con altre persone, e La disconnette ovunque. Non può essere annullata. Le note di altre persone restano condivise con il Suo indirizzo.',

  reservationExplanation: 'Una dimostrazione delle lingue: nulla viene salvato o prenotato.',
  guestName: 'Nome',
  guests: 'Ospiti',
  answerLanguage: 'Lingua della risposta',
  reserve: 'Prenota',

  CONFLICT: 'Il contatore è al limite.',
}
