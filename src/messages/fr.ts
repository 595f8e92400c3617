import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'Merci, {name}. {guests, plural, one {# place est réservée} many {# de places sont réservées} other {# places sont réservées}}.',
  refused: 'La réservation enfreint une règle',
  nameBlank: 'Veuillez saisir un nom.',
  guestsNotWhole: 'Veuillez saisir un nombre entier de places.',
  guestsTooFew:
    'Veuillez réserver au moins {min, plural, one {# place} many {# de places} other {# places}}.',
  guestsTooMany:
    'Veuillez réserver au maximum {max, plural, one {# place} many {# de places} other {# places}}.',
}

export const page: Page = {
  counter: 'Compteur',
  tasks: 'Tâches',
  notes: 'Notes',
  reservation: 'Réservation',

  introduction:
    'Tallystick tient un compteur commun, vos tâches et des notes que vous partagez avec d’autres personnes.',
  introductionCallers:
    'Les programmes et les agents IA peuvent utiliser le compteur, vos tâches et vos notes, dans la mesure où vous l’autorisez.',
  introductionAccess:
    'Vous décidez quelles applications ont accès à vos données et pouvez révoquer cet accès à tout moment.',
  openTasks: 'Tâches ouvertes',
  nothingOpen: 'Rien n’est ouvert.',
  nothingShared: 'Personne ne partage de note avec vous.',
  recentAccess: 'Actifs récemment',
  increment: 'Augmenter',
  decrement: 'Diminuer',
  resetCounter: 'Remettre le compteur à zéro',
  newValue: 'Nouvelle valeur',
  setCounter: 'Définir le compteur',

  newTask: 'Nouvelle tâche',
  addTask: 'Ajouter la tâche',
  filter: 'Afficher',
  allTasks: 'Toutes',
  statusPending: 'À faire',
  statusInProgress: 'En cours',
  done: 'Terminée',
  taskCount: '{count, plural, one {# tâche} many {# de tâches} other {# tâches}}',
  noTasks: 'Vous n’avez aucune tâche. Écrivez votre première tâche ci-dessus.',
  noMatchingTasks: 'Aucune tâche n’a ce statut.',
  title: 'Titre',
  description: 'Description',
  status: 'Statut',
  tasksDeleted:
    '{count, plural, one {Tâche supprimée.} many {# de tâches supprimées.} other {# tâches supprimées.}}',
  deleteAllTasks: 'Supprimer toutes les tâches',
  deleteAllTasksText: 'Toutes vos tâches seront définitivement supprimées, sur tous vos appareils.',
  taskChangedElsewhere: 'Cette tâche a été modifiée ailleurs. Quelle version voulez-vous garder ?',
  taskDeletedElsewhere:
    'Cette tâche a été supprimée ailleurs. Vous pouvez enregistrer votre version comme nouvelle tâche.',
  saveAsNewTask: 'Enregistrer comme nouvelle tâche',

  newNote: 'Nouvelle note',
  body: 'Texte',
  saveNote: 'Enregistrer la note',
  saveAsNewNote: 'Enregistrer comme nouvelle note',
  noNotes: 'Vous n’avez aucune note.',
  sharedWith:
    '{count, plural, =0 {Non partagée} one {Partagée avec # personne} many {Partagée avec # de personnes} other {Partagée avec # personnes}}',
  sharedToRead: 'Partagée avec vous pour lecture',
  sharedToEdit: 'Partagée avec vous pour modification',
  share: 'Partager',
  reader: 'Lecture',
  editor: 'Modification',
  shareNote: 'Partager la note',
  shareExplanation:
    'La lecture permet de voir la note, la modification permet aussi de la changer. Une adresse sans compte obtient l’accès lors de la première connexion de son propriétaire.',
  deleteNote: 'Supprimer la note',
  deleteNoteText:
    '{count, plural, =0 {La note sera définitivement supprimée.} one {La note sera définitivement supprimée, y compris pour la personne avec qui vous la partagez.} many {La note sera définitivement supprimée, y compris pour les # de personnes avec qui vous la partagez.} other {La note sera définitivement supprimée, y compris pour les # personnes avec qui vous la partagez.}}',
  leaveNote: 'Quitter la note',
  leaveNoteText: 'Vous perdez l’accès à la note, jusqu’à ce que son auteur la partage à nouveau avec vous.',
  noteChangedElsewhere: 'Cette note a été modifiée ailleurs. Quelle version voulez-vous garder ?',
  noteGone:
    'Cette note a été supprimée ou n’est plus partagée avec vous. Vous pouvez enregistrer votre texte comme nouvelle note.',
  noteNotEditable:
    'Vous ne pouvez plus modifier cette note. Vous pouvez enregistrer votre texte comme nouvelle note.',

  scopeRead: 'Consulte vos tâches, vos notes et votre compte',
  scopeWrite: 'Ajoute, modifie, partage et supprime vos tâches et vos notes',

  exportExplanation:
    'Téléchargez vos tâches, notes, appareils, applications et activités dans un fichier JSON. Le fichier indique aussi les notes les plus récentes que d’autres personnes partagent avec vous.',
  deleteAccountExplanation:
    'Cette action supprime vos tâches et vos notes, y compris les notes que vous partagez avec d’autres personnes, et vous déconnecte partout. Elle est irréversible. Les notes d’autres personnes restent partagées avec votre adresse.',

  reservationExplanation: 'Une démonstration des langues : rien n’est enregistré ni réservé.',
  guestName: 'Nom',
  guests: 'Convives',
  answerLanguage: 'Langue de la réponse',
  reserve: 'Réserver',

  CONFLICT: 'Le compteur est à sa limite.',
}
