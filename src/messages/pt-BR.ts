import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'Agradecemos a reserva, {name}. {guests, plural, one {# lugar está reservado} many {# de lugares estão reservados} other {# lugares estão reservados}}.',
  refused: 'A reserva viola uma regra',
  nameBlank: 'Por favor, informe um nome.',
  guestsNotWhole: 'Por favor, informe um número inteiro de lugares.',
  guestsTooFew:
    'Por favor, reserve pelo menos {min, plural, one {# lugar} many {# de lugares} other {# lugares}}.',
  guestsTooMany:
    'Por favor, reserve no máximo {max, plural, one {# lugar} many {# de lugares} other {# lugares}}.',
}

export const page: Page = {
  counter: 'Contador',
  tasks: 'Tarefas',
  notes: 'Notas',
  reservation: 'Reserva',

  introduction:
    'O Tallystick mantém um contador compartilhado, suas tarefas e as notas que você compartilha com outras pessoas.',
  introductionCallers:
    'Programas e agentes de IA podem usar o contador, suas tarefas e suas notas, até onde você permitir.',
  introductionAccess:
    'Você decide quais aplicativos têm acesso aos seus dados e pode revogar o acesso a qualquer momento.',
  openTasks: 'Tarefas abertas',
  nothingOpen: 'Nada está aberto.',
  nothingShared: 'Ninguém compartilha uma nota com você.',
  recentAccess: 'Ativos recentemente',
  increment: 'Aumentar',
  decrement: 'Diminuir',
  resetCounter: 'Zerar contador',
  newValue: 'Novo valor',
  setCounter: 'Definir contador',

  newTask: 'Nova tarefa',
  addTask: 'Adicionar tarefa',
  filter: 'Mostrar',
  allTasks: 'Todas',
  statusPending: 'Pendente',
  statusInProgress: 'Em andamento',
  done: 'Concluída',
  taskCount: '{count, plural, one {# tarefa} many {# de tarefas} other {# tarefas}}',
  noTasks: 'Você não tem tarefas. Escreva acima sua primeira tarefa.',
  noMatchingTasks: 'Nenhuma tarefa tem este status.',
  title: 'Título',
  description: 'Descrição',
  status: 'Situação',
  tasksDeleted:
    '{count, plural, one {Tarefa excluída.} many {# de tarefas excluídas.} other {# tarefas excluídas.}}',
  deleteAllTasks: 'Excluir todas as tarefas',
  deleteAllTasksText: 'Todas as suas tarefas serão excluídas definitivamente, em todos os seus dispositivos.',
  taskChangedElsewhere: 'Esta tarefa foi alterada em outro lugar. Qual versão você quer manter?',
  taskDeletedElsewhere:
    'Esta tarefa foi excluída em outro lugar. Você pode salvar sua versão como uma nova tarefa.',
  saveAsNewTask: 'Salvar como nova tarefa',

  newNote: 'Nova nota',
  body: 'Texto',
  saveNote: 'Salvar nota',
  saveAsNewNote: 'Salvar como nova nota',
  noNotes: 'Você não tem notas.',
  sharedWith:
    '{count, plural, =0 {Não compartilhada} one {Compartilhada com # pessoa} many {Compartilhada com # de pessoas} other {Compartilhada com # pessoas}}',
  sharedToRead: 'Compartilhada com você para leitura',
  sharedToEdit: 'Compartilhada com você para edição',
  share: 'Compartilhar',
  reader: 'Leitura',
  editor: 'Edição',
  shareNote: 'Compartilhar nota',
  shareExplanation:
    'A leitura permite ver a nota; a edição permite também alterá-la. Um endereço sem conta recebe acesso quando o dono entra pela primeira vez.',
  deleteNote: 'Excluir nota',
  deleteNoteText:
    '{count, plural, =0 {A nota será excluída definitivamente.} one {A nota será excluída definitivamente, também para a pessoa com quem você a compartilha.} many {A nota será excluída definitivamente, também para os # de pessoas com quem você a compartilha.} other {A nota será excluída definitivamente, também para as # pessoas com quem você a compartilha.}}',
  leaveNote: 'Sair da nota',
  leaveNoteText: 'Você perde o acesso à nota até que o autor a compartilhe com você novamente.',
  noteChangedElsewhere: 'Esta nota foi alterada em outro lugar. Qual versão você quer manter?',
  noteGone:
    'Esta nota foi excluída ou não está mais compartilhada com você. Você pode salvar seu texto como uma nova nota.',
  noteNotEditable: 'Você não pode mais alterar esta nota. Você pode salvar seu texto como uma nova nota.',

  scopeRead: 'Vê suas tarefas, suas notas e sua conta',
  scopeWrite: 'Adiciona, altera, compartilha e exclui suas tarefas e notas',

  exportExplanation:
    'Baixe suas tarefas, notas, dispositivos, aplicativos e atividades como um arquivo JSON. O arquivo também lista as notas mais recentes que outras pessoas compartilham com você.',
  deleteAccountExplanation:
    'Isto exclui suas tarefas e notas, inclusive as notas que você compartilha com outras pessoas, e encerra todas as suas sessões. Não é possível desfazer. As notas de outras pessoas continuam compartilhadas com o seu endereço.',

  reservationExplanation: 'Uma demonstração de idiomas: nada é armazenado nem reservado.',
  guestName: 'Nome',
  guests: 'Pessoas à mesa',
  answerLanguage: 'Idioma da resposta',
  reserve: 'Reservar',

  CONFLICT: 'O contador está no limite.',
}
