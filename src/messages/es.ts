import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'Gracias, {name}. {guests, plural, one {Se ha reservado # asiento} many {Se han reservado # de asientos} other {Se han reservado # asientos}}.',
  refused: 'La reserva incumple una regla',
  nameBlank: 'Por favor, indique un nombre.',
  guestsNotWhole: 'Por favor, indique un número entero de asientos.',
  guestsTooFew:
    'Por favor, reserve al menos {min, plural, one {# asiento} many {# de asientos} other {# asientos}}.',
  guestsTooMany:
    'Por favor, reserve como máximo {max, plural, one {# asiento} many {# de asientos} other {# asientos}}.',
}

export const page: Page = {
  counter: 'Contador',
  tasks: 'Tareas',
  notes: 'Notas',
  reservation: 'Reserva',

  introduction:
    'Tallystick lleva un contador compartido, sus tareas y las notas que comparte con otras personas.',
  introductionCallers:
    'Los programas y los agentes de IA pueden usar el contador, sus tareas y sus notas, en la medida en que usted lo permita.',
  introductionAccess:
    'Usted decide qué aplicaciones tienen acceso a sus datos y puede revocar el acceso en cualquier momento.',
  openTasks: 'Tareas abiertas',
  nothingOpen: 'No hay nada abierto.',
  nothingShared: 'Nadie comparte una nota con usted.',
  recentAccess: 'Activos recientemente',
  increment: 'Aumentar',
  decrement: 'Disminuir',
  resetCounter: 'Poner el contador a cero',
  newValue: 'Valor nuevo',
  setCounter: 'Fijar el contador',

  newTask: 'Tarea nueva',
  addTask: 'Añadir tarea',
  filter: 'Mostrar',
  allTasks: 'Todas',
  statusPending: 'Pendiente',
  statusInProgress: 'En curso',
  done: 'Terminada',
  taskCount: '{count, plural, one {# tarea} many {# de tareas} other {# tareas}}',
  noTasks: 'No tiene tareas. Escriba arriba su primera tarea.',
  noMatchingTasks: 'Ninguna tarea tiene este estado.',
  title: 'Título',
  description: 'Descripción',
  status: 'Estado',
  tasksDeleted:
    '{count, plural, one {Tarea eliminada.} many {# de tareas eliminadas.} other {# tareas eliminadas.}}',
  deleteAllTasks: 'Eliminar todas las tareas',
  deleteAllTasksText: 'Todas sus tareas se eliminarán definitivamente, en todos sus dispositivos.',
  taskChangedElsewhere: 'Esta tarea se modificó en otro lugar. ¿Qué versión desea conservar?',
  taskDeletedElsewhere: 'Esta tarea se eliminó en otro lugar. Puede guardar su versión como tarea nueva.',
  saveAsNewTask: 'Guardar como tarea nueva',

  newNote: 'Nota nueva',
  body: 'Texto',
  saveNote: 'Guardar nota',
  saveAsNewNote: 'Guardar como nota nueva',
  noNotes: 'No tiene notas.',
  sharedWith:
    '{count, plural, =0 {No compartida} one {Compartida con # persona} many {Compartida con # de personas} other {Compartida con # personas}}',
  sharedToRead: 'Compartida con usted para leer',
  sharedToEdit: 'Compartida con usted para editar',
  share: 'Compartir',
  reader: 'Lectura',
  editor: 'Edición',
  shareNote: 'Compartir nota',
  shareExplanation:
    'La lectura permite ver la nota; la edición permite también modificarla. Una dirección sin cuenta obtiene acceso cuando su titular inicia sesión por primera vez.',
  deleteNote: 'Eliminar nota',
  deleteNoteText:
    '{count, plural, =0 {La nota se eliminará definitivamente.} one {La nota se eliminará definitivamente, también para la persona con quien la comparte.} many {La nota se eliminará definitivamente, también para las # de personas con quienes la comparte.} other {La nota se eliminará definitivamente, también para las # personas con quienes la comparte.}}',
  leaveNote: 'Abandonar nota',
  leaveNoteText: 'Perderá el acceso a la nota hasta que su autor vuelva a compartirla con usted.',
  noteChangedElsewhere: 'Esta nota se modificó en otro lugar. ¿Qué versión desea conservar?',
  noteGone: 'Esta nota se eliminó o ya no se comparte con usted. Puede guardar su texto como nota nueva.',
  noteNotEditable: 'Ya no puede modificar esta nota. Puede guardar su texto como nota nueva.',

  scopeRead: 'Ve sus tareas, sus notas y su cuenta',
  scopeWrite: 'Añade, modifica, comparte y elimina sus tareas y notas',

  exportExplanation:
    'Descargue sus tareas, notas, dispositivos, aplicaciones y actividad en un archivo JSON. El archivo también enumera las notas más recientes que otras personas comparten con usted.',
  deleteAccountExplanation:
    'Esto elimina sus tareas y notas, también las notas que comparte con otras personas, y cierra su sesión en todas partes. No se puede deshacer. Las notas de otras personas siguen compartidas con su dirección.',

  reservationExplanation: 'Una demostración de idiomas: no se guarda ni se reserva nada.',
  guestName: 'Nombre',
  guests: 'Comensales',
  answerLanguage: 'Idioma de la respuesta',
  reserve: 'Reservar',

  CONFLICT: 'El contador está en su límite.',
}
