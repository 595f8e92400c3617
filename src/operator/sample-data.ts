import type { Role } from '../../db/notes.ts'
import type { TaskRow } from '../../db/tasks.ts'

export interface SampleAccount {
  email: string
  name: string
  tasks: Pick<TaskRow, 'title' | 'description' | 'status'>[]
  notes: { title: string; body: string; shares: [email: string, role: Role][] }[]
}

const charles = 'charles@example.com'

/**
 * Returns two accounts. The tasks have every status. The notes are private, or shared with another person in each role.
 * Tasks and notes are listed in the order in which the rows are created. `ada` is the e-mail address of the first
 * account.
 */
export const sampleAccounts = (ada: string): SampleAccount[] => [
  {
    email: ada,
    name: 'Ada Lovelace',
    tasks: [
      { title: 'Book the hall', description: 'For the evening of the 14th, from six.', status: 'completed' },
      { title: 'Print the programme', description: null, status: 'completed' },
      {
        title: 'Translate the lecture',
        description: 'The notes are longer than the text by now.',
        status: 'in_progress',
      },
      { title: 'Ask Charles for the drawings', description: null, status: 'pending' },
      { title: 'Order tea for forty', description: 'And something without milk.', status: 'pending' },
    ],
    notes: [
      {
        title: 'Books to return',
        body: 'Two to the library by Friday, one to Mary.',
        shares: [],
      },
      {
        title: 'Programme of the evening',
        body: '18:00 Doors open\n18:30 Charles: the engine and its drawings\n19:15 Tea\n19:45 Ada: what the engine could do',
        shares: [[charles, 'editor']],
      },
      {
        title: 'Who is coming',
        body: 'Mary, Michael, Augustus and some thirty more.\nTwo seats at the front are to be kept free.',
        shares: [[charles, 'reader']],
      },
    ],
  },
  {
    email: charles,
    name: 'Charles Babbage',
    tasks: [{ title: 'Find the drawings', description: 'Not in the blue folder.', status: 'in_progress' }],
    notes: [
      {
        title: 'What the projector needs',
        body: 'A table of its own, and a wall without pictures.',
        shares: [[ada, 'reader']],
      },
    ],
  },
]
